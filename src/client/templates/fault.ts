/** Ends the program with a message and an exit code: 2 for wrong usage, otherwise 1. */
export class CommandFault extends Error {
  override name = 'CommandFault'
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
