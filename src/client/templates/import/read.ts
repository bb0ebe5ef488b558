import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../../../os/records.ts'
import { messageOf } from '../../../os/thrown.ts'
import { CommandFault } from '../fault.ts'
import { type ForeignTemplate, MOST, SOURCES, type Source, templatesIn } from './sources.ts'

/** Export → its templates: a JSON file with answers of the service's API, or a folder as `postmark templates pull` writes
 *  it. Throws CommandFault if it is neither. */
export async function readExport(path: string, source: Source): Promise<ForeignTemplate[]> {
  const found = await stat(path).catch(() => null)
  if (found === null) throw new CommandFault(`${path}: file not found`)
  if (found.isDirectory()) return readFolder(path, source)
  if (found.size > MAX_FILE_BYTES) throw new CommandFault(`${path}: larger than ${MAX_FILE_BYTES} bytes`)
  return [...templatesIn(jsonOf(await readFile(path, 'utf8'), path), source)]
}

async function readFolder(path: string, source: Source): Promise<ForeignTemplate[]> {
  if (source !== SOURCES.postmark) throw new CommandFault(`${path}: is a folder. Name a JSON file`)
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
    throw new CommandFault(`${path}: larger than ${MAX_ANSWER_BYTES} bytes`)
  return readFile(path, 'utf8')
}

function jsonOf(text: string, from: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandFault(`${from}: is not JSON`)
  }
}

/** API of a service and its key → its templates. Rejects with CommandFault, which never contains the key. */
export async function fetchTemplates(
  source: Source,
  { baseUrl, key }: { baseUrl: string; key: string },
): Promise<ForeignTemplate[]> {
  const base = baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl
  const templates: ForeignTemplate[] = []
  const list = source.list?.((path) => getJson(base + path, key, source)) ?? []
  for await (const template of list) templates.push(template)
  return templates
}

/** Repeats a request that came too soon. */
async function getJson(url: string, key: string, { headers, keyName }: Source): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const init = {
      headers: { accept: 'application/json', ...headers(key) },
      redirect: 'error', // the key goes to no other host
      signal: AbortSignal.timeout(TIMEOUT_MS),
    } as const
    const response = await fetch(url, init).catch((error: unknown) => {
      throw new CommandFault(`${url}: ${messageOf(error instanceof Error && error.cause ? error.cause : error)}`)
    })
    const { status } = response
    if (status === 429 && attempt < MOST_ATTEMPTS) {
      await response.body?.cancel()
      const seconds = Number(response.headers.get('retry-after')) || 1
      await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(seconds, 1), LONGEST_PAUSE_S) * 1000))
      continue
    }
    if (status === 401 || status === 403) {
      throw new CommandFault(`${url}: status ${status}. Check ${keyName}: the key must be able to read templates`)
    }
    if (status !== 200) throw new CommandFault(`${url}: status ${status}`)
    return jsonOf(await textOf(response, url), url)
  }
}

async function textOf({ body }: Response, url: string): Promise<string> {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.byteLength
      if (bytes > MAX_ANSWER_BYTES) break
      text += decoder.decode(chunk, { stream: true })
    }
  } catch (error) {
    throw new CommandFault(`${url}: ${messageOf(error)}`)
  }
  if (bytes > MAX_ANSWER_BYTES) throw new CommandFault(`${url}: the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
  return text + decoder.decode()
}

const MAX_FILE_BYTES = 64 * 2 ** 20
/** A template with its versions; one text has at most 256 KiB here. */
const MAX_ANSWER_BYTES = 8 * 2 ** 20
const TIMEOUT_MS = 30_000
/** Resend allows two requests a second by default, the others more. */
const MOST_ATTEMPTS = 6
const LONGEST_PAUSE_S = 60
