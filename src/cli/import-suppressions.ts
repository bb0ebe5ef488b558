import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import { requireStream } from '../sending/submission/streams.ts'
import { type Imported, importReadings } from '../sending/suppressions/import.ts'
import { kindByName, type ListKind, type ProviderName } from '../sending/suppressions/providers.ts'
import { createListReader, type ListReader } from '../sending/suppressions/read-list.ts'
import { withCliContext } from './cli-context.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { requireOrganization } from './places.ts'
import { print, printError, printJson, sanitize } from './print.ts'

interface Options {
  config: string
  json?: true
  org?: string
  from?: ProviderName
  reason?: ListKind
  stream?: string
  dryRun?: true
}

/** Imports a file of suppressed addresses into an organization, whether or not the server runs. Reports each unreadable
 *  or skipped line by number on standard error and prints the totals. Returns 1 if a line was unreadable or the file
 *  has no records, otherwise 0; readable lines are imported in both cases. Throws CommandFailure if the file or the
 *  organization does not exist, Refusal for an unknown stream, and CommandFailure when the limit of the plan is reached. */
export async function importSuppressions(file: string, options: Options): Promise<number> {
  await requireFile(file)
  return withCliContext(options.config, async ({ config, store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const { stream = null } = options
    if (stream !== null) requireStream(stream, config.sending)
    const reader = createListReader({
      provider: options.from ?? null,
      kind: options.reason ?? kindByName(basename(file)),
      stream,
    })
    const means = {
      ...{ organizationId, store, random: systemRandom, now: systemClock.now(), isDryRun: options.dryRun === true },
      streams: Object.keys(config.sending.streams),
      onLine: (number: number, message: string, isBad: boolean) =>
        printError(`${reader.noun} ${number}: ${isBad ? '' : 'skipped: '}${sanitize(message)}`),
    }
    const work = () => importReadings(readings(reader, file), means)
    const about = { organizationId, body: { from: options.from, reason: options.reason, stream: options.stream } }
    const result = means.isDryRun ? await work() : await operator.manage('suppressions_import', about, work)
    show(result, options)
    if (result.limit !== null) {
      const { limit } = result.limit
      throw new CommandFailure(
        `the plan allows ${limit} suppressions. Added ${result.added}; the rest was not imported.`,
      )
    }
    const found = result.added + result.alreadyThere + result.passedOver
    if (found + result.bad === 0) printError(`${file}: no records found`)
    return found === 0 || result.bad > 0 ? EXIT.failed : EXIT.done
  })
}

async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => null)
  if (found?.isFile()) return
  throw new CommandFailure(`${file}: ${found === null ? 'file not found' : 'not a regular file'}`)
}

async function* readings(reader: ListReader, file: string) {
  let decoder: TextDecoder | null = null
  const pieces: AsyncIterable<Uint8Array> = createReadStream(file, { highWaterMark: PIECE_BYTES })
  for await (const piece of pieces) {
    // Spreadsheets export UTF-16.
    decoder ??= new TextDecoder(piece[0] === 0xff && piece[1] === 0xfe ? 'utf-16le' : 'utf-8')
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
  else print(`${added} ${would}added, ${alreadyThere} already suppressed, ${passedOver} skipped, ${bad} unreadable`)
}
