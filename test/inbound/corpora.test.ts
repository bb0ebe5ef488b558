/** Real mail of other projects, as the payload shows it. The expectation was compared with Python's email package
 *  once, mail by mail; `differs` says why a mail is read differently there. The mails are outside the checkout. */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressesOf, readHeaderFields } from '../../src/mail/header-fields.ts'
import { parseAttachments, parseMail } from '../../src/mail/parse.ts'
import { headOf } from '../../src/receiving/inbound/head.ts'

const CORPORA = join(import.meta.dir, '../../../shared/corpora')
const FOLDERS = ['mime', 'bounces'].map((name) => join(CORPORA, name))
const isHere = FOLDERS.every(existsSync)
if (!isHere) console.warn(`skipped: no mails in ${CORPORA}`)

interface Fact {
  file: string
  /** Digest of subject, From, To and Cc. */
  head: string
  /** ASCII characters in both bodies, without blanks. */
  letters: number
  attachments: [name: string, sizeBytes: number, digest: string][]
  /** Why the other reader differs. */
  differs?: string[]
}

const FACTS = new Map(
  readFileSync(join(import.meta.dir, 'corpora-facts.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Fact)
    .map((fact) => [fact.file, fact]),
)

const never = new Promise<never>(() => {})
const digest = (content: string | Uint8Array) => createHash('sha1').update(content).digest('hex').slice(0, 10)

async function factOf(file: string, raw: Uint8Array): Promise<Fact> {
  const { parsed, parseError } = await parseMail(raw, never)
  expect(parseError, file).toBeNull()
  const contents = await parseAttachments(raw, never)
  expect(contents, file).toHaveLength(parsed.attachments.length)
  const { fields } = readHeaderFields(raw)
  const { subject, from } = headOf(fields)
  const addresses = (key: string) => addressesOf(fields.find((field) => field.key === key)?.value ?? '')
  return {
    file,
    head: digest(JSON.stringify([subject, from, addresses('to'), addresses('cc')])),
    letters: (parsed.textBody + parsed.htmlBody).replace(/[^!-~]+/g, '').length,
    attachments: parsed.attachments.map(({ filename, sizeBytes }, at) => [filename, sizeBytes, digest(contents[at]!)]),
  }
}

describe.skipIf(!isHere)('mail of other projects', () => {
  const files = isHere
    ? FOLDERS.flatMap((folder) => readdirSync(folder).map((name) => ({ name, path: join(folder, name) })))
    : []
  const mails = files.filter(({ name }) => name.endsWith('.eml'))

  test('is read completely, like another reader or for a documented reason', async () => {
    for (const { name, path } of mails) {
      const raw = new Uint8Array(readFileSync(path))
      const before = digest(raw)
      const { differs: _, ...expected } = FACTS.get(name) ?? { differs: [], ...(await factOf(name, raw)) }
      expect(await factOf(name, raw)).toEqual(expected)
      expect(digest(raw)).toBe(before)
    }
    expect(mails.length).toBeGreaterThan(400)
  })
})

test('every mail that is read differently has its reason', () => {
  const others = [...FACTS.values()].filter(({ differs }) => differs !== undefined)
  expect(others.every(({ differs }) => differs!.every((reason) => reason.length > 20))).toBe(true)
  expect(others.length / FACTS.size).toBeLessThan(0.2)
})
