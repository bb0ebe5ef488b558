import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ask } from '../../net/https/requests.ts'
import { isRecord } from '../../os/records.ts'
import { CommandFailure } from '../failure.ts'
import { sanitize } from '../print.ts'
import { type ForeignTemplate, type GetJson, MOST, SOURCES, type Source, templatesIn } from './sources.ts'

/** Export → its templates: a JSON file with answers of the service's API, or a folder as `postmark templates pull` writes
 *  it. Throws CommandFailure if it is neither. */
export async function readExport(path: string, source: Source): Promise<ForeignTemplate[]> {
  const found = await stat(path).catch(() => null)
  if (found === null) throw new CommandFailure(`${path}: file not found`)
  if (found.isDirectory()) return readFolder(path, source)
  if (found.size > MAX_FILE_BYTES) throw new CommandFailure(`${path}: larger than ${MAX_FILE_BYTES} bytes`)
  return [...templatesIn(jsonOf(await readFile(path, 'utf8'), path), source)]
}

async function readFolder(path: string, source: Source): Promise<ForeignTemplate[]> {
  if (source !== SOURCES.postmark) throw new CommandFailure(`${path}: is a folder. Name a JSON file`)
  const names = (await readdir(path, { recursive: true })).filter((name) => /(?:^|[/\\])meta\.json$/.test(name))
  const templates: ForeignTemplate[] = []
  for (const name of names.toSorted().slice(0, MOST)) {
    const meta = jsonOf(await limited(join(path, name)), name)
    const part = (file: string) => limited(join(path, name, '..', file)).catch(() => null)
    const content = { HtmlBody: await part('content.html'), TextBody: await part('content.txt') }
    templates.push(...(isRecord(meta) ? templatesIn({ ...meta, ...content }, source) : []))
  }
  return templates
}

async function limited(path: string): Promise<string> {
  if ((await stat(path)).size > MAX_ANSWER_BYTES)
    throw new CommandFailure(`${path}: larger than ${MAX_ANSWER_BYTES} bytes`)
  return readFile(path, 'utf8')
}

function jsonOf(text: string, from: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandFailure(`${from}: is not JSON`)
  }
}

/** API of a service and its key → its templates. `pause` waits before a repeated request. Rejects with CommandFailure,
 *  which never contains the key. */
export async function fetchTemplates(
  source: Source,
  options: { baseUrl: string; key: string; ask: Ask; pause: (ms: number) => Promise<void> },
): Promise<ForeignTemplate[]> {
  const templates: ForeignTemplate[] = []
  for await (const template of source.list(createGetJson(source, options))) templates.push(template)
  return templates
}

function createGetJson(
  { headers, keyName }: Source,
  { baseUrl, key, ask, pause }: Parameters<typeof fetchTemplates>[1],
): GetJson {
  const request = {
    headers: { accept: 'application/json', ...headers(key) },
    ...{ body: null, maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS },
  }
  return async (path) => {
    const url = (baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl) + path
    for (let attempt = 1; ; attempt++) {
      const answer = await ask(url, request)
      if (answer.kind === 'blocked') throw new CommandFailure(`${url}: ${answer.reason}`)
      if (answer.kind === 'no_answer') throw new CommandFailure(`${url}: ${answer.error}`)
      const { status, headers, text } = answer
      if (status === 429 && attempt < MOST_ATTEMPTS) {
        await pause(Math.min(Math.max(Number(headers['retry-after']) || 1, 1), LONGEST_PAUSE_S) * 1000)
        continue
      }
      if (status === 401 || status === 403) {
        throw new CommandFailure(`${url}: status ${status}. Check ${keyName}: the key must be able to read templates`)
      }
      if (status !== 200) throw new CommandFailure(`${url}: status ${status}`)
      if (text === null) throw new CommandFailure(`${url}: the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
      return jsonOf(text, sanitize(url))
    }
  }
}

const MAX_FILE_BYTES = 64 * 2 ** 20
/** A template with its versions; one text has at most 256 KiB here. */
const MAX_ANSWER_BYTES = 8 * 2 ** 20
const TIMEOUT_MS = 30_000
/** Resend allows two requests a second by default, the others more. */
const MOST_ATTEMPTS = 6
const LONGEST_PAUSE_S = 60
