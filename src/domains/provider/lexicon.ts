import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { comparableHost } from '../../mail/address.ts'
import { visible } from '../../net/visible-text.ts'
import { isRecord } from '../../os/records.ts'
import { sameHost } from '../spf.ts'
import type { Credentials } from './credentials.ts'
import type { DnsProvider } from './providers.ts'

/** One record at a provider. */
export interface ProviderRecord {
  type: 'TXT' | 'MX' | 'CNAME' | 'A' | 'AAAA'
  name: string
  value: string
  priority: number | null
}

/** A zone at its provider, changed by the program `lexicon`. */
export interface ProviderZone {
  /** Values of that name and type, those of MX without priority. Rejects with LexiconFault. */
  list(name: string, type: ProviderRecord['type']): Promise<string[]>
  create(record: ProviderRecord): Promise<void>
  remove(record: ProviderRecord): Promise<void>
  close(): void
}

/** lexicon is missing, failed, or took too long. The message has no credentials. */
export class LexiconFault extends Error {
  override name = 'LexiconFault'
}

/** One call asks a provider once or twice. */
const LIMIT_MS = 60_000
/** A list of one name has a few records. */
const MAX_OUTPUT = 1_000_000
/** Programs of the system only, not those of the user's environment. */
const PROGRAMS = '/usr/local/bin:/usr/bin:/bin'
const INSTALL = 'lexicon is not installed. Run: apt install lexicon'

/** Throws LexiconFault if the program is missing. */
export function requireLexicon(): string {
  const program = Bun.which('lexicon', { PATH: PROGRAMS })
  if (program === null) throw new LexiconFault(INSTALL)
  return program
}

/** Zone and credentials → its records at the provider. `program` is the path of lexicon. */
export function openProviderZone(
  { zone, provider, credentials }: { zone: string; provider: DnsProvider; credentials: Credentials },
  program: string = requireLexicon(),
): ProviderZone {
  // Its own folder, because lexicon reads settings from the present one. It also keeps its list of public suffixes there.
  const folder = mkdtempSync(join(tmpdir(), 'postrider-lexicon-'))
  const run = (action: string, type: string, options: string[]) =>
    runLexicon(program, ['--delegated', zone, provider.name, action, zone, type, ...options], { folder, credentials })
  const change = async (action: 'create' | 'delete', record: ProviderRecord) => {
    // With `=`, no value can be taken for an option.
    const options = [`--name=${record.name}`, ...contentOf(record, provider), '--ttl=3600']
    await run(action, record.type, options)
  }
  const list = async (name: string, type: string) =>
    recordsIn(await run('list', type, [`--name=${name}`, '--output=JSON']), type)
  return {
    list: async (name, type) =>
      (await list(name, type)).flatMap((each) => (sameHost(each.name, name) ? [each.value] : [])),
    create: (record) => change('create', record),
    remove: async (record) => {
      // At some providers, lexicon also finds longer names, or all for that of the zone, and would remove them too.
      const value = record.type === 'TXT' ? record.value : plainValue(record.value, record.type)
      const found = await list(record.name, record.type)
      const other = found.find((each) => each.value === value && !sameHost(each.name, record.name))
      if (other === undefined) return change('delete', record)
      throw new LexiconFault(
        `lexicon would also remove the record of ${visible(other.name)}: remove the old one by hand`,
      )
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A record → the content that lexicon passes to this provider. */
export function contentOf({ type, value, priority }: ProviderRecord, { txt, mx, isAbsolute }: DnsProvider): string[] {
  if (type === 'TXT') return [`--content=${txtOf(value, txt)}`]
  if (type === 'A' || type === 'AAAA') return [`--content=${value}`]
  const host = isAbsolute ? `${value}.` : value
  if (type === 'CNAME') return [`--content=${host}`]
  return mx === 'inline'
    ? [`--content=${priority ?? 10} ${host}`]
    : [`--priority=${priority ?? 10}`, `--content=${host}`]
}

function txtOf(value: string, form: DnsProvider['txt']): string {
  if (form === 'raw') return value
  const strings = (value.match(/.{1,255}/gs) ?? ['']).map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`)
  const whole = strings.join(' ')
  return form === 'quoted' ? whole : whole.slice(1, -1)
}

/** JSON of `list` → names and values. Its log may come first, so the last line counts. */
function recordsIn(output: string, type: string): { name: string; value: string }[] {
  let records: unknown
  try {
    records = JSON.parse(output.trim().split('\n').at(-1) ?? '')
  } catch {
    throw new LexiconFault('lexicon: its answer is not a list of records')
  }
  if (!Array.isArray(records)) throw new LexiconFault('lexicon: its answer is not a list of records')
  return records
    .filter((record) => isRecord(record) && record.type === type)
    .map((record) => ({ name: String(record.name), value: plainValue(String(record.content), type) }))
}

/** Quoted strings become one text, and names lose their dot. Some providers omit the outer quotes only. */
export function plainValue(content: string, type: string): string {
  if (type !== 'TXT') return comparableHost(content.trim().split(/\s+/).at(-1) ?? '')
  const isQuoted = content.startsWith('"') || content.includes('" "')
  if (!isQuoted) return content
  const inner = content.replace(/^"/, '').replace(/"$/, '')
  return inner.replaceAll(/"[ \t]{1,10}"/g, '').replaceAll(/\\(.)/g, '$1')
}

async function runLexicon(
  program: string,
  args: string[],
  { folder, credentials }: { folder: string; credentials: Credentials },
): Promise<string> {
  const { code, stdout, stderr } = await bounded(program, args, {
    cwd: folder,
    env: { PATH: PROGRAMS, HOME: folder, LANG: 'C.UTF-8', TLDEXTRACT_CACHE_PATH: folder, ...credentials },
  })
  if (code === 0) return stdout
  const last = stderr.trim().split('\n').at(-1) || stdout.trim().split('\n').at(-1) || `exit code ${code}`
  throw new LexiconFault(`lexicon: ${withoutSecrets(last, credentials)}`)
}

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a program without shell, input and our environment. It ends at the limits. */
function bounded(program: string, args: string[], how: { cwd: string; env: Record<string, string> }): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...how, stdio: ['ignore', 'pipe', 'pipe'], shell: false })
    const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    let size = 0
    let fault: string | null = null
    const stop = (why: string) => {
      fault ??= why
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => stop(`lexicon: no answer within ${LIMIT_MS / 1000} s`), LIMIT_MS)
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > MAX_OUTPUT) stop('lexicon: its answer is too long')
        else chunks[name].push(chunk)
      })
    }
    const textOf = (name: 'stdout' | 'stderr') => Buffer.concat(chunks[name]).toString('utf8')
    child.once('error', ({ message }) => {
      clearTimeout(timer)
      reject(new LexiconFault(`lexicon: ${message}`))
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      if (fault === null) resolve({ code, stdout: textOf('stdout'), stderr: textOf('stderr') })
      else reject(new LexiconFault(fault))
    })
  })
}

const MAX_MESSAGE = 300

/** Some providers take the key in the URL, which errors quote. */
function withoutSecrets(text: string, credentials: Credentials): string {
  let clean = text
  // The longest first: a user name can be the beginning of a key.
  for (const secret of Object.values(credentials).toSorted((a, b) => b.length - a.length)) {
    for (const form of [secret, encodeURIComponent(secret)]) {
      if (form.length >= MIN_SECRET) clean = clean.replaceAll(form, '***')
    }
  }
  return visible(clean.slice(0, MAX_MESSAGE))
}

const MIN_SECRET = 4
