import { serveConfined } from '../os/sandbox/child-side.ts'
import { readerInside } from './reader-inside.ts'
import { warmUp } from './warm-up.ts'

/** A reader as a process: `args` are those of os/sandbox/child-side.ts. All code is loaded and has run once before the process
 *  gives up its rights: afterwards no file can be opened. */
export async function readerProcess(args: readonly string[]): Promise<void> {
  await warmUp()
  await serveConfined(args, (post) => readerInside(post))
}
