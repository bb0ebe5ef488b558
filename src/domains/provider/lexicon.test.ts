import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProviderZone, type ProviderRecord } from './lexicon.ts'
import { providerNamed } from './providers.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-lexicon-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A zone whose program answers lists with these records, as lexicon 3.11 does for Namecheap: with longer names too. */
function zoneWith(records: object[]) {
  const [program, removed] = [join(folder, 'lexicon'), join(folder, 'removed')]
  rmSync(removed, { force: true })
  const script = `#!/bin/sh
case "$*" in *" delete "*) : >'${removed}' ;; *) printf '%s\\n' '${JSON.stringify(records)}' ;; esac
`
  writeFileSync(program, script, { mode: 0o755 })
  const provider = providerNamed('namecheap')!
  const zone = openProviderZone({ zone: 'example.com', provider, credentials: {} }, program)
  return { zone, isRemoved: () => existsSync(removed) }
}

const mx = (name: string, content: string) => ({ type: 'MX', name, content, ttl: 60, id: name })
const old: ProviderRecord = { type: 'MX', name: 'example.com', value: 'mx.office.example', priority: 10 }

test('lists the values of one name only', async () => {
  const { zone } = zoneWith([mx('example.com', '10 a.example'), mx('sub.example.com', '10 b.example')])
  expect(await zone.list('example.com', 'MX')).toEqual(['a.example'])
  zone.close()
})

test('finds the records of names and hosts that the provider shows with U-labels or a final dot', async () => {
  const { zone } = zoneWith([mx('Bücher.example', '10 Mail.bücher.example.')])
  expect(await zone.list('xn--bcher-kva.example', 'MX')).toEqual(['mail.xn--bcher-kva.example'])
  zone.close()
})

test('removes nothing if lexicon would also remove the same value of another name', async () => {
  const both = ['example.com', 'sub.example.com'].map((name) => mx(name, '10 mx.office.example'))
  const { zone, isRemoved } = zoneWith(both)
  const fault = await zone.remove(old).catch(({ message }: Error) => message)
  expect(fault).toContain('lexicon would also remove the record of sub.example.com')
  expect(isRemoved()).toBe(false)
  zone.close()
})

test('removes a value that only this name has', async () => {
  const { zone, isRemoved } = zoneWith([
    mx('example.com', '10 mx.office.example'),
    mx('sub.example.com', '10 b.example'),
  ])
  await zone.remove(old)
  expect(isRemoved()).toBe(true)
  zone.close()
})

test('an error has no part of the credentials, also if one begins with another', async () => {
  const program = join(folder, 'failing')
  writeFileSync(program, '#!/bin/sh\necho "401 for /?key=$LEXICON_NAMECHEAP_AUTH_TOKEN" >&2\nexit 1\n', { mode: 0o755 })
  const credentials = { LEXICON_NAMECHEAP_AUTH_USERNAME: 'admin', LEXICON_NAMECHEAP_AUTH_TOKEN: 'admin-0123456789' }
  const zone = openProviderZone({ zone: 'example.com', provider: providerNamed('namecheap')!, credentials }, program)
  const fault = await zone.list('example.com', 'MX').catch(({ message }: Error) => message)
  expect(fault).toBe('lexicon: 401 for /?key=***')
  zone.close()
})
