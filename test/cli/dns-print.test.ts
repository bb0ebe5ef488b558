import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

/** `dns apply --print` of a domain whose DNS has an SPF record at the return path, and a DMARC record. */

const DOMAIN = 'shop.example.com'
const postrider = postriderInOneProcess()
const place = testFolder()
let zone: Zone

beforeAll(async () => {
  zone = await startZone()
  place.writeConfig('127.0.0.1:0', `[dns]\nservers = ["${zone.address}"]\n`)
  await postrider('org', 'create', 'Acme', '--plan', 'enterprise', '--config', place.file)
  await postrider('domain', 'add', DOMAIN, '--config', place.file)
  zone.set(DOMAIN, 'NS', [`ns1.${DOMAIN}`])
  zone.set(`bounces.${DOMAIN}`, 'TXT', ['v=spf1 include:x.example -all'])
  zone.set(`_dmarc.${DOMAIN}`, 'TXT', ["v=DMARC1; p=reject; rua=mailto:it's@x.example"])
  await postrider('dns', 'check', DOMAIN, '--config', place.file)
})
afterAll(async () => {
  await zone.stop()
  place.remove()
})

const printed = async (format: string, ...more: string[]) => {
  const { stdout } = await postrider('dns', 'apply', DOMAIN, '--print', format, ...more, '--config', place.file)
  return stdout
}

test('terraform and octodns keep the mechanisms and the policy of present records', async () => {
  for (const format of ['terraform', 'octodns']) {
    const text = await printed(format)
    expect([format, text]).toEqual([format, expect.stringMatching(/v=spf1 a:\S+ include:x\.example -all/)])
    expect([format, text]).toEqual([
      format,
      expect.stringMatching(/v=DMARC1\\*; p=reject\\*; rua=mailto:it's@x\.example,mailto:/),
    ])
  }
})

test('commands create no second SPF or DMARC record', async () => {
  const lines = (await printed('commands', '--provider', 'cloudflare')).trim().split('\n')
  const created = lines.filter((line) => line.startsWith(`lexicon --delegated ${DOMAIN} cloudflare create ${DOMAIN} `))
  expect(created.some((line) => line.includes('._domainkey.'))).toBe(true)
  expect(created.filter((line) => /spf1|DMARC1/.test(line))).toEqual([])
  const comments = lines.filter((line) => line.startsWith('# TXT '))
  expect(comments).toEqual([
    expect.stringContaining(`bounces.${DOMAIN} exists. It should be: v=spf1 a:`),
    expect.stringContaining(`_dmarc.${DOMAIN} exists. It should be: v=DMARC1; p=reject;`),
  ])
  expect(created.length + comments.length).toBe(lines.length)
})

test('commands name the zone that DNS shows, and there are none for a subdomain whose zone is not known', async () => {
  const commandsOf = async (domain: string) => {
    await postrider('domain', 'add', domain, '--config', place.file)
    const args = ['--print', 'commands', '--provider', 'cloudflare', '--config', place.file]
    const { code, stdout, stderr } = await postrider('dns', 'apply', domain, ...args)
    return {
      code,
      stderr,
      starts: new Set(
        stdout
          .trim()
          .split('\n')
          .map((line) => line.split(' TXT ')[0]!.split(' MX ')[0]),
      ),
    }
  }
  zone.set('example.net', 'NS', ['ns1.example.net'])
  const parent = await commandsOf('shop.example.net')
  expect([...parent.starts]).toEqual(['lexicon --delegated example.net cloudflare create example.net'])
  // A registrable domain is a zone, whether or not its servers answer already.
  expect([...(await commandsOf('new.example')).starts]).toEqual([
    'lexicon --delegated new.example cloudflare create new.example',
  ])
  const unknown = await commandsOf('shop.new.example')
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('which zone has shop.new.example')])
})
