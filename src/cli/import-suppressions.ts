import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import { errorCode } from '../os/thrown.ts'
import { requireStream } from '../sending/submission/streams.ts'
import { type Imported, importReadings } from '../sending/suppressions/import.ts'
import { kindByName, type ListKind, type ProviderName } from '../sending/suppressions/providers.ts'
import { createListReader, type ListReader } from '../sending/suppressions/read-list.ts'
import { type CliContext, withCliContext } from './cli-context.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { organization, requireOrganization } from './places.ts'
import { print, printError, printJson, sanitize } from './print.ts'
import { createRemoteOperator } from './remote-operator.ts'
import type { Server } from './server-access.ts'

interface Options {
  config: string
  json?: true
  org?: string
  from?: ProviderName
  reason?: ListKind
  stream?: string
  dryRun?: true
  server?: Server | null
}

/** Imports a file of suppressed addresses, or standard input for `-`, into an organization, whether or not the server
 *  runs, or on another server. Reports each unreadable or skipped line by number on standard error and prints the totals.
 *  Returns 1 if a line was unreadable or the file has no records, otherwise 0; readable lines are imported in both cases.
 *  Throws CommandFailure if the file or the organization does not exist, Refusal for an unknown stream, and
 *  CommandFailure when the limit of the plan is reached. */
export async function importSuppressions(file: string, options: Options): Promise<number> {
  const pieces = await openFile(file) // before root becomes the owner of the data, who may not read it
  const isDryRun = options.dryRun === true
  const result =
    options.server == null
      ? await withCliContext(options.config, (context) => importHere(file, pieces, options, context))
      : await importElsewhere(file, pieces, options, options.server)
  show(result, isDryRun, options)
  if (result.limit !== null) {
    const { limit } = result.limit
    throw new CommandFailure(`the plan allows ${limit} suppressions. Added ${result.added}; the rest was not imported.`)
  }
  const found = result.added + result.alreadyThere + result.passedOver
  if (found + result.bad === 0) printError(`${file}: no records found`)
  return found === 0 || result.bad > 0 ? EXIT.failed : EXIT.done
}

async function importHere(file: string, pieces: Pieces, options: Options, context: CliContext): Promise<Imported> {
  const { config, store, operator } = context
  const { id: organizationId } = await requireOrganization(options.org, store)
  const { stream = null } = options
  if (stream !== null) requireStream(stream, config.sending)
  const reader = createListReader({ provider: options.from ?? null, kind: kindOf(file, options), stream })
  const means = {
    ...{ organizationId, store, random: systemRandom, now: systemClock.now(), isDryRun: options.dryRun === true },
    streams: Object.keys(config.sending.streams),
    onLine: (number: number, message: string, isBad: boolean) =>
      printError(`${reader.noun} ${number}: ${isBad ? '' : 'skipped: '}${sanitize(message)}`),
  }
  const work = () => importReadings(readings(reader, pieces), means)
  const about = { organizationId, body: { from: options.from, reason: options.reason, stream: options.stream } }
  return means.isDryRun ? work() : operator.manage('suppressions_import', about, work)
}

/** The operation takes one text, which has a limit of its own, and reports a limit of the plan as Refusal. */
async function importElsewhere(file: string, pieces: Pieces, options: Options, server: Server): Promise<Imported> {
  const place = await organization({ operands: [], options }, { store: null })
  const texts: string[] = []
  for await (const text of decoded(pieces)) texts.push(text)
  const { from, stream, dryRun = false } = options
  const reason = kindOf(file, options) ?? undefined
  const body = { csv: texts.join(''), from, reason, stream, dry_run: dryRun }
  const answer = await createRemoteOperator(server).run('suppressions_import', { ...place, body })
  for (const { number, message } of answer.errors) printError(`line ${number}: ${sanitize(message)}`)
  if (answer.errors_left_out > 0) printError(`${answer.errors_left_out} more lines are not listed`)
  const { added, already_there: alreadyThere, passed_over: passedOver, bad } = answer
  return { added, alreadyThere, passedOver, bad, limit: null }
}

const kindOf = (file: string, { reason }: Options): ListKind | null => reason ?? kindByName(basename(file))

type Pieces = AsyncIterable<Uint8Array>

async function openFile(file: string): Promise<Pieces> {
  if (file === '-') return process.stdin
  const handle = await open(file).catch((error: unknown) => {
    throw errorCode(error) === 'ENOENT' ? new CommandFailure(`${file}: file not found`) : error
  })
  if ((await handle.stat()).isFile()) return handle.createReadStream({ highWaterMark: PIECE_BYTES })
  await handle.close()
  throw new CommandFailure(`${file}: not a regular file`)
}

async function* readings(reader: ListReader, pieces: Pieces) {
  for await (const text of decoded(pieces)) yield reader.push(text)
  yield reader.end()
}

async function* decoded(pieces: Pieces) {
  let decoder: TextDecoder | null = null
  for await (const piece of pieces) {
    // Spreadsheets export UTF-16.
    decoder ??= new TextDecoder(piece[0] === 0xff && piece[1] === 0xfe ? 'utf-16le' : 'utf-8')
    yield decoder.decode(piece, { stream: true })
  }
  yield decoder?.decode() ?? ''
}

const PIECE_BYTES = 65_536

function show({ added, alreadyThere, passedOver, bad }: Imported, isDryRun: boolean, { json }: Options): void {
  const counts = { added, already_there: alreadyThere, passed_over: passedOver, bad, dry_run: isDryRun }
  const would = isDryRun ? 'would be ' : ''
  if (json) printJson(counts)
  else print(`${added} ${would}added, ${alreadyThere} already suppressed, ${passedOver} skipped, ${bad} unreadable`)
}
