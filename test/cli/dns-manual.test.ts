import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import { type ProviderServer, startPowerDns } from '../support/dns-providers.ts'
import { documentationOf } from '../support/documentation.ts'
import { installCommands } from '../support/machine-commands.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { postrider, testFolder } from './command.ts'

/** The code of the manual page about `dns apply`, as it is, with PowerDNS as the provider. */

const BLOCKS = [
  ...documentationOf('dns-apply').matchAll(/^<!-- at the DNS provider -->\n```sh\n([\s\S]*?)^```$/gm),
].map(([, code = '']) => code)

describeWith(['root', 'lexicon', 'pdns_server'], 'the manual page about dns apply', () => {
  const place = testFolder()
  let server: ProviderServer
  let env: Record<string, string>
  beforeAll(async () => {
    server = await startPowerDns('example.com', '')
    const credentials = join(place.folder, 'credentials')
    writeFileSync(credentials, server.credentials, { mode: 0o600 })
    const dns = `[dns]\nservers = ["${server.address}"]\nprovider = "powerdns"\ncredentials_file = "${credentials}"\n`
    place.writeConfig('127.0.0.1:0', dns)
    await postrider('org', 'create', 'Acme', '--config', place.file)
    await postrider('domain', 'add', 'example.com', '--config', place.file)
    installCommands(place.folder)
    env = { HOME: place.folder, PATH: `${place.folder}:${process.env.PATH}`, POSTRIDER_CONFIG: place.file }
  })
  afterAll(async () => {
    await server.stop()
    place.remove()
  })
  const runBlock = (code: string) => run(['sh', '-eu'], { input: code, env, cwd: place.folder })

  test('has two blocks', () => expect(BLOCKS).toHaveLength(2))

  test('publishes the records', async () => {
    const { exitCode, output } = await runBlock(BLOCKS[0]!)
    expect([exitCode, output]).toEqual([0, expect.stringContaining('All required records of example.com are correct.')])
    const keys = (await server.records()).filter((line) => line.includes('._domainkey.example.com.'))
    expect(keys).toHaveLength(2)
  })

  test('writes the records for other tools', async () => {
    expect(await runBlock(BLOCKS[1]!)).toEqual({ exitCode: 0, output: '' })
    const zone = YAML.parse(readFileSync(join(place.folder, 'example.com.yaml'), 'utf8')) as Record<string, unknown>
    expect(Object.keys(zone)).toContain('bounces')
    const commands = readFileSync(join(place.folder, 'commands.sh'), 'utf8').trim().split('\n')
    const known = /^(lexicon --delegated example\.com gandi create example\.com |# TXT \S+ exists\. It should be: )/
    expect(commands.filter((line) => known.test(line))).toEqual(commands)
    expect(commands.some((line) => line.startsWith('lexicon'))).toBe(true)
  })
})
