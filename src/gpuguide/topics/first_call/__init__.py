"""Fresh processes and studies of the page first_call."""
