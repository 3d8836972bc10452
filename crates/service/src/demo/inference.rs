//! A network of two layers whose weights servers hold, for images of clients.

use madrigal_program::{Client, Computation, Fixed, Program, ProgramError};
use madrigal_program_file::ProgramFile;

use super::{DemoError, in_general};

/// The dimension of submissions.
pub(crate) const IMAGES: &str = "images";
/// The client that loads the network's weights.
pub(crate) const OWNER: &str = "owner";
/// The client that brings images.
pub(crate) const MEMBER: &str = "member";
/// Pixels of an image, numbers of the hidden layer, and classes: those of networks for MNIST.
pub const LAYERS: [usize; 3] = [784, 128, 10];

/// A number of the network: 12 bits after the point, and 19 before it.
pub type Number = Fixed<i32, 12>;

/// A network of two layers with a ReLU between them, whose weights are the owner's and whose images are the members': each member learns the scores of
/// its own image, and the servers learn nothing.
///
/// # Errors
/// [`DemoError`].
pub fn inference(servers: usize) -> Result<ProgramFile, DemoError> {
    in_general(IMAGES, |images| of_images(servers, images))
}

fn of_images(servers: usize, images: usize) -> Result<Computation, ProgramError> {
    let (owner, member) = (Client::new(OWNER), Client::new(MEMBER));
    let [pixels, hidden, classes] = LAYERS;
    let mut program = Program::new(servers);
    let w1 = program.input_named::<Number>("w1", &owner, [pixels, hidden]);
    let b1 = program.input_named::<Number>("b1", &owner, [hidden]);
    let w2 = program.input_named::<Number>("w2", &owner, [hidden, classes]);
    let b2 = program.input_named::<Number>("b2", &owner, [classes]);
    let image = program.input_named::<Number>("image", &member, [images, pixels]);
    let layer = (image.matmul(&w1) + &b1).max(Number::default());
    program.open_named("scores", &(layer.matmul(&w2) + &b2), &member);
    program.finish()
}
