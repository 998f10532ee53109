def until_converged(record, step, change, tolerance, most):
    """Do steps until they change little; return how many there were."""
    done = 0
    while done < most:
        step()
        done += 1
        if change() < tolerance:
            break
    return done
