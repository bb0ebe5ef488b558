import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import { type Imported, importReadings } from '../suppressions/import.ts'
import { kindByName, type ListKind, type ProviderName } from '../suppressions/providers.ts'
import { createListReader, type ListReader } from '../suppressions/read-list.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { inOffice } from './office.ts'
import { requireOrganization } from './org.ts'
import { complain, harmless, print, printJson } from './print.ts'

interface Options {
  config: string
  json?: true
  org?: string
  from?: ProviderName
  reason?: ListKind
  dryRun?: true
}

/** A file of suppressed addresses → suppressions of an organization, beside a running server or none. Tells each line that
 *  is not taken, by its number, on standard error, and at the end how many were. Answers 1 when a line could not be read or
 *  nothing was found at all; the other lines are in then. */
export async function importSuppressions(file: string, options: Options): Promise<number> {
  await requireFile(file)
  return inOffice(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const reader = createListReader({
      provider: options.from ?? null,
      kind: options.reason ?? kindByName(basename(file)),
    })
    const means = {
      ...{ organizationId, store, random: systemRandom, now: systemClock.now(), isDryRun: options.dryRun === true },
      tell: (number: number, message: string, isBad: boolean) =>
        complain(`${reader.noun} ${number}: ${isBad ? '' : 'passed over: '}${harmless(message)}`),
    }
    const work = () => importReadings(readings(reader, file), means)
    const about = { organizationId, body: { from: options.from, reason: options.reason } }
    const result = means.isDryRun ? await work() : await operator.manage('suppressions_import', about, work)
    show(result, options)
    if (result.limit !== null) {
      const { limit } = result.limit
      throw new CommandFailure(`the plan allows ${limit} suppressions: ${result.added} were added, the rest was not`)
    }
    const found = result.added + result.alreadyThere + result.passedOver
    if (found + result.bad === 0) complain(`${file}: there are no records in it`)
    return found === 0 || result.bad > 0 ? EXIT.failed : EXIT.done
  })
}

async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => null)
  if (found?.isFile()) return
  throw new CommandFailure(`${file}: ${found === null ? 'there is no such file' : 'is no file'}`)
}

async function* readings(reader: ListReader, file: string) {
  let decoder: TextDecoder | null = null
  for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Uint8Array>) {
    decoder ??= new TextDecoder(piece[0] === 0xff && piece[1] === 0xfe ? 'utf-16le' : 'utf-8') // as spreadsheets write
    yield reader.push(decoder.decode(piece, { stream: true }))
  }
  yield reader.push(decoder?.decode() ?? '')
  yield reader.end()
}

const PIECE_BYTES = 65_536

function show({ added, alreadyThere, passedOver, bad }: Imported, { json, dryRun }: Options): void {
  const counts = { added, already_there: alreadyThere, passed_over: passedOver, bad, dry_run: dryRun === true }
  const would = dryRun ? 'would be ' : ''
  if (json) printJson(counts)
  else
    print(`${added} ${would}added, ${alreadyThere} there already, ${passedOver} passed over, ${bad} could not be read`)
}
