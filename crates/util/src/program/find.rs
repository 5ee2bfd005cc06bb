use super::ProgramError;

/// Looks for the program of a command where the system would, without starting it, so that a misspelt name shows before anything
/// runs. Where it cannot be told beforehand, as on Windows, nothing is said.
///
/// # Errors
/// [`ProgramError::NotStarted`] where there is no such file, or none that may be run.
#[cfg(unix)]
pub fn find_program(words: &[String]) -> Result<(), ProgramError> {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    let Some(file) = words.first() else { return Ok(()) };
    let may_run = |path: &Path| path.metadata().is_ok_and(|at| at.is_file() && at.permissions().mode() & 0o111 != 0);
    let found = if file.contains('/') {
        may_run(Path::new(file))
    } else {
        // Without the variable the system has places of its own.
        std::env::var_os("PATH").is_none_or(|path| std::env::split_paths(&path).any(|at| may_run(&at.join(file))))
    };
    if found {
        return Ok(());
    }
    let reason = "there is no such program, or it may not be run".to_owned();
    Err(ProgramError::NotStarted { program: crate::visible_line(file).into_owned(), reason })
}

/// Elsewhere names are completed in ways of the system's own.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn find_program(_: &[String]) -> Result<(), ProgramError> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_started_is_found() {
        let found = |file: &str| find_program(&[file.to_owned(), "argument".to_owned()]).is_ok();
        assert!(found("sh") && found("/bin/sh"));
        assert!(!found("no-such-program-anywhere") && !found("/no/such/program"));
        // A folder, and a file that is no program.
        assert!(!found("/") && !found("/etc/passwd"));
    }
}
