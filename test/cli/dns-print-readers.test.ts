import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { YAML } from 'bun'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import type { DnsRecord } from '../../src/model/domain.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

/** `dns apply --print`, read by the programs that the output is for. */

const DOMAIN = 'shop.example.org'
const postrider = postriderInOneProcess()
const place = testFolder()
const folder = mkdtempSync(join(tmpdir(), 'postrider-print-'))
let records: DnsRecord[] = []
let zone: Zone
beforeAll(async () => {
  zone = await startZone()
  zone.set('example.org', 'NS', ['ns1.example.org'])
  place.writeConfig('127.0.0.1:0', `[dns]\nservers = ["${zone.address}"]\n`)
  await postrider('org', 'create', 'Acme', '--config', place.file)
  await postrider('domain', 'add', DOMAIN, '--config', place.file)
  records = JSON.parse((await postrider('dns', 'show', DOMAIN, '--json', '--config', place.file)).stdout).records
})
afterAll(async () => {
  await zone.stop()
  place.remove()
  rmSync(folder, { recursive: true, force: true })
})

const printed = async (format: string, ...more: string[]) => {
  const args = ['dns', 'apply', DOMAIN, '--print', format, ...more, '--config', place.file]
  const { code, stdout, stderr } = await postrider(...args)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}
const RECEIVING = ['mx', 'mta_sts', 'mta_sts_host', 'tls_rpt']
const wanted = (isReceiving: boolean) => records.filter(({ purpose }) => isReceiving || !RECEIVING.includes(purpose))
const lineOf = ({ type, name, value, priority }: Pick<DnsRecord, 'type' | 'name' | 'value' | 'priority'>) =>
  `${name} ${type} ${priority === null ? '' : `${priority} `}${value}`
const linesOf = (isReceiving: boolean) => wanted(isReceiving).map(lineOf).toSorted()

describeWith(['named-compilezone'], 'dns apply --print zone', () => {
  test('prints lines that BIND loads, with every value as it is', async () => {
    const file = join(folder, 'zone')
    const head = `$ORIGIN ${DOMAIN}.\n@ 60 IN SOA ns1 hostmaster 1 3600 600 86400 60\n@ 60 IN NS ns1\nns1 60 IN A 192.0.2.53\n`
    writeFileSync(file, `${head}${await printed('zone')}\n`)
    const { exitCode, output } = await run(['named-compilezone', '-q', '-s', 'full', '-o', '-', DOMAIN, file])
    expect([exitCode, output]).toEqual([0, expect.stringContaining(`_domainkey.${DOMAIN}.`)])
    const found = output.split('\n').flatMap((line) => {
      const [, name, type, content] = /^(\S+)\.\s+3600\s+IN\s+(TXT|MX|CNAME)\s+(.+)$/.exec(line) ?? []
      if (name === undefined || content === undefined) return []
      const text = content.replace(/^"|"$/g, '').replaceAll('" "', '').replaceAll(/\\(.)/g, '$1')
      return [`${name} ${type} ${type === 'TXT' ? text : content.replace(/\.$/, '')}`]
    })
    expect(found.toSorted()).toEqual(linesOf(false))
  })
})

test('dns apply --print octodns prints YAML with the records, and semicolons as octoDNS wants them', async () => {
  for (const isReceiving of [false, true]) {
    type Sets = { type: string; value?: string; values?: (string | { preference: number; exchange: string })[] }[]
    const zone = YAML.parse(await printed('octodns', ...(isReceiving ? ['--mx'] : []))) as Record<string, Sets>
    const found = Object.entries(zone).flatMap(([label, sets]) =>
      sets.flatMap(({ type, value, values = [value!] }) =>
        values.map((each) => {
          const name = label === '' ? DOMAIN : `${label}.${DOMAIN}`
          if (typeof each !== 'string') return `${name} ${type} ${each.preference} ${each.exchange.slice(0, -1)}`
          if (type !== 'TXT') return `${name} ${type} ${each.slice(0, -1)}`
          expect(each).not.toMatch(/(?<!\\);/)
          return `${name} ${type} ${each.replaceAll('\\;', ';')}`
        }),
      ),
    )
    expect(found.toSorted()).toEqual(linesOf(isReceiving))
  }
})

describeWith(['lexicon'], 'dns apply --print commands', () => {
  /** Reads lines of words, separated by NUL, with the parser of lexicon itself. */
  const READER = `import json, sys
from lexicon.parser import generate_cli_main_parser
for line in sys.stdin.read().split("\\0\\n")[:-1]:
    print(json.dumps(vars(generate_cli_main_parser().parse_args(line.split("\\0")))))
`

  test('prints commands of the shell, which lexicon reads as the records', async () => {
    const script = await printed('commands', '--provider', 'powerdns', '--mx')
    expect(await run(['sh', '-n'], { input: script })).toEqual({ exitCode: 0, output: '' })
    const words = await run(['sh'], { input: `lexicon() { printf '%s\\0' "$@"; printf '\\n'; }\n${script}` })
    const { exitCode, output } = await run(['/usr/bin/python3', '-c', READER], { input: words.output })
    expect([exitCode, output]).toEqual([0, expect.stringContaining('{')])
    const found = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ delegated, provider_name, action, domain, type, name, content }) => {
        expect([delegated, provider_name, action, domain]).toEqual(['example.org', 'powerdns', 'create', 'example.org'])
        const text = content.replace(/^"|"$/g, '').replaceAll('" "', '').replaceAll(/\\(.)/g, '$1')
        return `${name} ${type} ${type === 'TXT' ? text : content.replace(/\.$/, '')}`
      })
    expect(found.toSorted()).toEqual(linesOf(true))
  })

  test('without the name of a provider it asks for one', async () => {
    const { code, stderr } = await postrider('dns', 'apply', DOMAIN, '--print', 'commands', '--config', place.file)
    expect([code, stderr]).toEqual([2, expect.stringContaining('--provider')])
  })
})

// Debian has no package of it.
describe.skipIf(Bun.which('terraform') === null)('dns apply --print terraform', () => {
  test('prints a local value that Terraform reads as the records', async () => {
    const root = join(folder, 'terraform')
    mkdirSync(root)
    writeFileSync(join(root, 'records.tf'), await printed('terraform', '--mx'))
    const env = { PATH: process.env.PATH ?? '', HOME: root, CHECKPOINT_DISABLE: '1' }
    const command = ['terraform', `-chdir=${root}`, 'console']
    const { exitCode, output } = await run(command, { env, input: 'jsonencode(jsonencode(local.postrider_records))' })
    expect([exitCode, output]).toEqual([0, expect.stringContaining('postrider')])
    // The console prints a string with the escapes of JSON.
    const found: DnsRecord[] = JSON.parse(JSON.parse(JSON.parse(output)))
    expect(found.map(lineOf).toSorted()).toEqual(linesOf(true))
  })
})
