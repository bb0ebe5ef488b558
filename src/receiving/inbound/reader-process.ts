import { serveConfined } from '../../os/sandbox/child-side.ts'
import { readerInside } from './reader.ts'
import { warmUp } from './warm-up.ts'

/** A reader process; `args` belong to os/sandbox/child-side.ts. Loads and exercises all code before the process drops
 *  its privileges, because it cannot open files afterwards. */
export async function readerProcess(args: readonly string[]): Promise<void> {
  await warmUp()
  await serveConfined(args, (post) => readerInside(post))
}
