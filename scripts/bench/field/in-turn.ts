import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startZone } from '../../../src/cli/try/zone-server.ts'
import { bodies } from '../bodies.ts'
import type { Bench, Binary } from '../part.ts'
import { startSink } from '../peers.ts'
import { startProgram } from '../process.ts'
import { SINK_ZONE } from '../server.ts'
import type { Contender, Running, Stage } from './contender.ts'
import { NAME_SERVER } from './daemons.ts'
import { exim, eximSigning } from './exim.ts'
import { haraka, harakaSigning } from './haraka.ts'
import { ours } from './ours.ts'
import { postfix, postfixSigning } from './postfix.ts'

/** All contenders, in the order of their columns. */
export function contenders(binary: string): Contender[] {
  return [ours(binary), postfix, postfixSigning, haraka, harakaSigning, exim, eximSigning]
}

/** What a part requires of the setup. */
type StageOptions = Pick<Stage, 'manner'> & Partial<Pick<Stage, 'names' | 'mail'>>
type Work = (contender: Contender, server: Running, mails: number) => Promise<void>

/** Each contender with mails for the load, alone, from its start to its end. A failure is printed, and the others
 *  follow. */
export async function inTurn(
  { scratch, data }: Bench,
  binary: Binary,
  load: 'sent' | 'accepted' | 'healthy' | 'inbound',
  { manner, names = [], mail }: StageOptions,
  work: Work,
): Promise<void> {
  if (binary.name === 'against') return // a column is one server
  const tools = data ?? ''
  chmodSync(scratch, 0o711) // they run as separate users
  for (const contender of contenders(binary.file)) {
    const mails = contender.mails[load]
    if (mails === undefined || !isThere(contender, tools)) continue
    const folder = mkdtempSync(join(scratch, 'field-'))
    chmodSync(folder, 0o755)
    const sink = await startSink()
    const badPeers = manner === 'route' ? await startProgram('bad-peers', String(sink.port)) : null
    const zone = names.length === 0 ? null : await startZone([...SINK_ZONE, ...names], NAME_SERVER)
    try {
      const toSink = { file: bodies.smtp(folder), to: 'ann@sink.example' }
      const server = await contender.open({ folder, tools, manner, sink, names, mail: mail ?? toSink })
      try {
        await work(contender, server, mails)
      } finally {
        await server.stop()
      }
    } catch (error) {
      console.error(`${contender.name}:`, error)
      process.exitCode = 1
    } finally {
      sink.end()
      badPeers?.end()
      await zone?.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

function isThere(contender: Contender, tools: string): boolean {
  const missing = Object.entries(contender.needs(tools)).find(([file]) => !existsSync(file))
  if (missing !== undefined) console.error(`${contender.name} is skipped: ${missing[0]} is missing (${missing[1]})`)
  return missing === undefined
}
