/** Several nodes of the built program on a temporary PostgreSQL, all on loopback; nothing leaves the machine.
 *
 *    bun scripts/try-nodes.ts --nodes 2 [--once]
 *
 *  Sends a message through each node, kills the first node, and shows the others accepting and delivering without it.
 *  With --once it exits then, with 0 if every message and its event arrived; otherwise it starts the killed node again
 *  and runs until Ctrl-C. */
import { parseArgs } from 'node:util'
import { EXIT } from '../src/cli/failure.ts'
import { colorsFor, print, printError } from '../src/cli/print.ts'
import { formatCall, formatInbound, formatMail, seconds } from '../src/cli/try/format.ts'
import { formatStage, type Stage } from '../src/cli/try/stages.ts'
import { untilSignal } from '../src/cli/until-signal.ts'
import { postgresPrograms } from '../test/support/postgres.ts'
import { describeNodes, openNodes, type TryNodes } from './try-nodes/open.ts'
import { createMailbox, showNodes } from './try-nodes/show.ts'

const { values } = parseArgs({ options: { nodes: { type: 'string', default: '2' }, once: { type: 'boolean' } } })
const count = Number(values.nodes)
const startedAt = performance.now()
const colors = colorsFor()
const ended = untilSignal()
let isShown = false
let isGood = true

const mailbox = createMailbox()
const show = (text: string) => isShown && print(text)
const reached = (stage: Stage) => {
  isGood &&= stage.ok
  print(formatStage(stage, colors))
}

if (!Number.isInteger(count) || count < 2 || count > 5) {
  printError('--nodes must be a number from 2 to 5.')
  process.exit(EXIT.usage)
}
if (postgresPrograms() === null) {
  printError(
    '--nodes requires the programs of PostgreSQL 15 or newer. On Debian and Ubuntu: apt-get install postgresql',
  )
  process.exit(EXIT.failed)
}
process.exit(await run())

async function run(): Promise<number> {
  print(`${colors.bold(`Postrider, ${count} nodes on one PostgreSQL.`)} Nothing leaves this machine.\n`)
  const undo: (() => unknown)[] = []
  try {
    const opening = openNodes(
      {
        count,
        onMail: (mail) => {
          mailbox.onMail(mail)
          show(formatMail(mail, colors))
        },
        onCall: (call) => {
          mailbox.onCall(call)
          show(formatCall(call, colors))
        },
        onInbound: (mail) => show(formatInbound(mail, colors)),
      },
      undo,
    )
    const nodes = await orSignal(opening)
    if (typeof nodes === 'number') return nodes
    const detail = `PostgreSQL on port ${nodes.postgres.port}, ${nodes.nodes.map(({ name, http }) => `${name} on ${http}`).join(', ')}`
    reached({ name: 'ready', ok: true, detail, ms: performance.now() - startedAt })
    const interrupted = await orSignal(showNodes(nodes, mailbox, reached))
    if (interrupted !== undefined) return interrupted
    const took = seconds(performance.now() - startedAt)
    print(
      `\n${isGood ? colors.good(`All stages passed in ${took}.`) : colors.bad(`Some stages failed after ${took}.`)}`,
    )
    if (values.once) return isGood ? EXIT.done : EXIT.failed
    return await keepRunning(nodes)
  } finally {
    for (const step of undo.splice(0).reverse()) await step()
  }
}

/** Starts the killed node again, as a new node, and waits for a signal. */
async function keepRunning(nodes: TryNodes): Promise<number> {
  const interrupted = await orSignal(nodes.nodes[0]!.start())
  if (interrupted !== undefined) return interrupted
  isShown = true
  print(describeNodes(nodes, colors))
  return ended
}

/** The result of the work, or the exit code of a signal that came earlier. */
function orSignal<T>(work: Promise<T>): Promise<T | number> {
  return Promise.race([work, ended])
}
