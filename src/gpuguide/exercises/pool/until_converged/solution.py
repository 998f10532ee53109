def until_converged(record, step, change, tolerance, most):
    """Do steps until they change little; return how many there were."""
    graph = record(50)
    done = 0
    while done < most:
        graph.launch()
        done += 50
        if change() < tolerance:
            break
    return done
