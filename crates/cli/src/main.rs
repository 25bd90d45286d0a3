//! The command `quarry`.

fn main() -> std::process::ExitCode {
    quarry_cli::main()
}
