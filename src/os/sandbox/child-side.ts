import { isolateJobs } from '../job-isolation.ts'
import { fieldOf } from '../records.ts'
import type { MarkMessage } from '../work-board.ts'
import { openChannel } from './channel.ts'
import type { ConfinedMessage, SelfTestedMessage } from './child-runner.ts'
import { type Confinement, confine } from './confine.ts'
import { preparePassing, receiveDescriptor } from './pass-file.ts'
import { breakOut } from './self-test.ts'
import { openSharedMarks } from './shared-marks.ts'

/** The child side, once its code is loaded and warm: confines the process and handles messages. `serve` gets the
 *  function that sends answers and returns the message handler; a file in a message has a descriptor that the
 *  handler closes. `args`: what the parent appended to the command, and what sandbox/confine.ts added at the
 *  restart. The process ends when its parent closes the channel. Rejects if the channel cannot be opened. */
export async function serveConfined(
  args: readonly string[],
  serve: (post: (message: unknown) => void) => (message: unknown) => void,
): Promise<void> {
  const [parent = 0, memoryBytes = 0, landlock] = [args[0], args[1], args[2]?.replace('landlock=', '')].map(Number)
  preparePassing()
  const early: unknown[] = []
  let handle: (message: unknown) => void = (message) => early.push(message)
  const channel = openChannel({
    fd: MESSAGES_FD,
    maxBytes: MAX_MESSAGE_BYTES,
    onMessage: (message) => handle(message),
    onEnd: () => process.exit(0),
    takeFile: () => receiveDescriptor(FILES_FD),
  })
  const mark = openSharedMarks(receiveDescriptor(FILES_FD)) // the first that is passed
  await channel.opened
  const confinement: Confinement = confine({
    parent,
    landlock: landlock || 0,
    memoryBytes,
  })
  channel.send({ kind: 'confined', confinement } satisfies ConfinedMessage)
  isolateJobs((message) => channel.send(message))
  const take = serve((message) => {
    if (isMark(message)) mark(message)
    else channel.send(message)
  })
  handle = (message) => {
    if (fieldOf(message, 'kind') !== 'self_test') return take(message)
    channel.send({ kind: 'self_tested', broken: breakOut(parent) } satisfies SelfTestedMessage)
  }
  for (const message of early) handle(message)
}

function isMark(message: unknown): message is MarkMessage {
  const kind = fieldOf(message, 'kind')
  return kind === 'beat' || (kind === 'at_work' && typeof fieldOf(message, 'job') === 'number')
}

const MESSAGES_FD = 0
/** Nothing is printed there; the restart in place keeps 0, 1 and 2 open and no others. */
const FILES_FD = 1
/** Large limit, because the parent is trusted. */
const MAX_MESSAGE_BYTES = 2 ** 31 - 1
