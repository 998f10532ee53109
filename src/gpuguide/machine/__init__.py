"""What is here: back ends, device, CPU, memory, launch shapes, compilers."""
