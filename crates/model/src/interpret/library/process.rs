//! Ends of a run, and the environment.

use super::super::memory::Stop;
use super::{Native, int, one, word};

pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "exit" | "_exit" | "_Exit" | "quick_exit" => |_, arguments| Err(Stop::Exit(int(arguments, 0)?)),
        "abort" => |_, _| Err(Stop::Abort),
        "__assert_fail" => |machine, arguments| {
            let expression = machine.memory.string(word(arguments, 0)?)?;
            let file = machine.memory.string(word(arguments, 1)?)?;
            let line = int(arguments, 2)? as u32;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let message = format!("{}:{line}: Assertion `{}' failed.\n", text(&file), text(&expression));
            machine.errors.extend_from_slice(message.as_bytes());
            Err(Stop::Abort)
        },
        // No variable is set.
        "getenv" => |_, _| one(0),
        "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp" => |_, _| Err(Stop::Unsupported("setjmp".into())),
        "longjmp" | "_longjmp" | "siglongjmp" => |_, _| Err(Stop::Unsupported("longjmp".into())),
        _ => return None,
    })
}
