import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import {
  callingAt,
  clearVerdicts,
  HOSTNAME,
  IPV4,
  IPV6,
  PROVIDERS,
  startGreeter,
  startTestMachine,
  type TestMachine,
  verdictTexts,
} from './setup.ts'

beforeAll(clearVerdicts)

let machine: TestMachine
let undo: (() => unknown)[]
beforeEach(async () => {
  machine = await startTestMachine(PROVIDERS)
  undo = [() => machine.stop()]
})
afterEach(async () => {
  for (const step of undo) await step()
})

const greeter = async (words?: Parameters<typeof startGreeter>[0]) => {
  const server = await startGreeter(words)
  undo.push(server.stop)
  return server
}
const firmware = (vendor: string) => {
  const sys = mkdtempSync(join(tmpdir(), 'postrider-sys-'))
  mkdirSync(join(sys, 'class/dmi/id'), { recursive: true })
  writeFileSync(join(sys, 'class/dmi/id/sys_vendor'), `${vendor}\n`)
  undo.push(() => rmSync(sys, { recursive: true }))
  return sys
}

describe('outbound port 25', () => {
  test('the best mail server of each provider gets a greeting and no mail', async () => {
    const { port, said } = await greeter()
    const found = await machine.check('outbound_port_25', { deps: { greet: callingAt(port) } })
    expect(found).toMatchObject({ status: 'pass', advice: null })
    expect(found.message).toMatch(/^mx\.\w+\.com responded after \d+ ms$/)
    expect(said.toSorted()).toEqual([...Array(3).fill(`EHLO ${HOSTNAME}`), ...Array(3).fill('QUIT')])
  })

  test('a server that refuses us still counts as reached', async () => {
    const { port } = await greeter({ greeting: '554 5.7.1 your address is on a list' })
    const found = await machine.check('outbound_port_25', { deps: { greet: callingAt(port) } })
    expect(found).toMatchObject({ status: 'warn' })
    expect(found.message).toContain('554 5.7.1 your address is on a list')
  })

  test('where none answers, the provider’s policy and a smarthost are advised', async () => {
    const greet = callingAt(await freePort())
    const plain = await machine.check('outbound_port_25', { deps: { greet } })
    expect(plain.status).toBe('fail')
    expect(plain.message).toContain('mx.gmail.com')
    expect(plain.advice).toContain('Ask your provider')
    expect(plain.advice).toContain('smarthost_file = "smarthost"')

    const cloud = await machine.check('outbound_port_25', { deps: { greet, sys: firmware('Google') } })
    expect(cloud.advice).toContain('Google Cloud. The provider never opens it')
    expect(cloud.advice).toContain('smarthost_file')
    machine.zone.set('44.33.22.11.in-addr.arpa', 'PTR', ['static.44.33.22.11.clients.your-server.de'])
    expect((await machine.check('outbound_port_25', { deps: { greet } })).advice).toContain('Hetzner')
  })

  test('IPv6 alone is not enough: many mail servers have none', async () => {
    for (const name of ['gmail.com', 'outlook.com', 'yahoo.com']) machine.zone.set(`mx.${name}`, 'AAAA', ['2600::25'])
    const families: string[] = []
    const greet = async (_host: string, address: string) => {
      families.push(address)
      const isReached = address.includes(':')
      return { isReached, problem: isReached ? null : 'timeout', words: '', durationMs: 1 }
    }
    const both = { greet, ownAddresses: () => [IPV4, IPV6] }
    expect(await machine.check('outbound_port_25', { deps: both })).toMatchObject({ status: 'fail' })
    expect(new Set(families)).toEqual(new Set(['127.0.0.1', '2600::25']))
  })

  test('with a smarthost no server is called', async () => {
    const greet = async () => {
      throw new Error('called all the same')
    }
    const installation = { smarthost: { host: 'smtp.example', port: 587 } }
    expect(await machine.check('hostname', { installation, deps: { greet } })).toMatchObject({ status: 'pass' })
  })

  // threat: internal-addresses-by-dns-checks
  test('forbidden addresses are not called', async () => {
    let called = 0
    const greet = async () => {
      called++
      return { isReached: true, problem: null, words: '', durationMs: 0 }
    }
    const found = await machine.check('outbound_port_25', { deps: { greet, mayConnect: () => false } })
    expect(found.status).toBe('skip')
    expect(called).toBe(0)
  })
})

describe('behind NAT', () => {
  test('a mail server that names its client reveals our public address', async () => {
    const { port } = await greeter({ ehlo: `250-mx.gmail.com at your service, [${IPV4}]\n250 SIZE 1000` })
    const behindNat = { ownAddresses: () => ['10.0.0.5'], greet: callingAt(port) }
    expect(await machine.check('hostname', { deps: behindNat })).toMatchObject({ status: 'pass' })
    expect(await machine.check('reverse_dns_ipv4', { deps: behindNat })).toMatchObject({
      status: 'pass',
      message: `${IPV4} resolves to ${HOSTNAME}`,
    })
    machine.zone.set(HOSTNAME, 'A', ['11.0.0.1'])
    const wrong = await machine.check('hostname', { deps: behindNat })
    expect(wrong.status).toBe('fail')
    expect(wrong.advice).toContain(IPV4)
  })
})

test('messages state what was found, and advice what to do', () => {
  expect(verdictTexts()).toMatchSnapshot()
})
