use tbaa::declare::{Declarations, Target, Tbaa};
use tbaa::{AliasResult, Session};

#[derive(Tbaa)]
#[repr(C)]
struct Point {
    x: i32,
    y: f32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(target) = Target::host() else { return Ok(()) };
    let mut session = Session::with_unions(Declarations::new(target));
    Point::declare(session.types_mut())?;
    let [x, y] = [session.tag("Point.x")?, session.tag("Point.y")?];
    assert_eq!(session.alias(x, y), AliasResult::NoAlias);
    println!("{}", tbaa::text::write(session.graph()));
    Ok(())
}
