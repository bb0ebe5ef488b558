import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import net from 'node:net'
import packet from 'dns-packet'
import { dnsRecords } from '../../src/domains/records.ts'
import { framedMessages, frameMessage } from '../../src/net/dns/frame.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { delegationQueries } from '../../src/operating/checkup/delegation.ts'
import { checkDelegation } from '../../src/operating/health/delegation.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { ownServer } from '../support/own-server.ts'
import { until } from '../support/patience.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { type Json, startTestServer, type TestServer } from '../support/server.ts'
import { startAuthority, startRecursive, type Unbound } from './unbound.ts'
import { edns, query } from './zone.ts'

const ZONE = 'pm.example.net'
const CUSTOMER = 'shop.example'
const AUTHORITY = '127.53.7.1'
const US = '127.53.7.2'
const RESOLVER = '127.53.7.3'
const HOSTNAME = 'mail.example.net'

describeWith(['dig', 'kdig', 'unbound', 'root'], 'with the zone delegated to it, the server', () => {
  let server: TestServer
  let others: Unbound[] = []
  let domain: Json
  let label: string

  beforeAll(async () => {
    server = await startTestServer({
      remote: { port: 9, open: () => 0 },
      config: {
        hostname: HOSTNAME,
        dkim: { resolvers: [] },
        dns: {
          servers: [`${RESOLVER}:53`],
          zone: ZONE,
          listen: [`${US}:53`],
          name_servers: [`ns1.${ZONE}`, `ns2.${ZONE}`],
          addresses: [US],
          responses_per_second: 0,
        },
      },
    })
    const added = await server.ask('POST', '/v1/domains', { name: CUSTOMER, tracking: { host: `links.${CUSTOMER}` } })
    expect(added.status).toBe(201)
    domain = added.body
    label = domain.dns_records[0].value.split('.')[1]
    const other = (await server.read('/v1/domains')).data.find((each: Json) => each.name === 'sender.example')
    expect(other.status).toBe('verified')
    others = [
      await startAuthority(AUTHORITY, {
        '.': [`ns.authority.example. IN A ${AUTHORITY}`],
        'example.net': [
          `${HOSTNAME}. IN A ${US}`,
          `${ZONE}. IN NS ns1.${ZONE}.`,
          `${ZONE}. IN NS ns2.${ZONE}.`,
          `ns1.${ZONE}. IN A ${US}`,
          `ns2.${ZONE}. IN A ${US}`,
        ],
        [CUSTOMER]: linesOf(domain.dns_records.filter(({ type }: Json) => type === 'CNAME')),
        'sender.example': await directLines(server, other.id),
      }),
      await startRecursive(RESOLVER, AUTHORITY),
    ]
    await until('the zone to have the domain', async () =>
      (await dig(`bounces.${label}.${ZONE}`, 'MX')).includes('NOERROR'),
    )
  })
  afterAll(async () => {
    for (const each of others) await each.stop()
    await server.close()
  })

  describe('proposes', () => {
    test('CNAME records for all but the ownership record and the MX of the domain', () => {
      const shown = domain.dns_records.map(({ type, name }: Json) => `${type} ${name.replace(`.${CUSTOMER}`, '')}`)
      const [stem] = domain.dkim.map(({ selector }: Json) => selector.slice(0, -2))
      expect(shown).toEqual([
        `CNAME ${stem}1r._domainkey`,
        `CNAME ${stem}1e._domainkey`,
        'TXT _postrider-verify',
        'CNAME bounces',
        'CNAME _dmarc',
        `MX ${CUSTOMER}`,
        'CNAME _smtp._tls',
        'CNAME links',
        `CNAME ${stem}2r._domainkey`,
        `CNAME ${stem}2e._domainkey`,
      ])
    })
  })

  describe('verifies', () => {
    test('the domain through its CNAME records, from the root down', async () => {
      const verified = await server.ask('POST', `/v1/domains/${domain.id}/verify`)
      expect(verified.body).toMatchObject({ status: 'verified', proved_by: 'dkim' })
      const statuses = Object.fromEntries(verified.body.dns_records.map((each: Json) => [each.name, each.status]))
      const wrong = Object.entries(statuses).filter(([, status]) => status !== 'valid')
      expect(wrong).toEqual([
        [`_postrider-verify.${CUSTOMER}`, 'missing'],
        [CUSTOMER, 'missing'],
      ])
      const key = await dig(`${domain.dkim[0].selector}._domainkey.${CUSTOMER}`, 'TXT', `@${RESOLVER}`)
      expect(key).toContain(`CNAME\t${domain.dkim[0].selector}.${label}.${ZONE}.`)
      expect(key).toContain('"v=DKIM1; k=rsa; p=')
    })

    test('a domain that publishes the values itself', async () => {
      const { data } = await server.read('/v1/domains')
      const { id } = data.find((each: Json) => each.name === 'sender.example')
      const verified = await server.ask('POST', `/v1/domains/${id}/verify`)
      expect(verified.body).toMatchObject({ status: 'verified', proved_by: 'dkim' })
      const required = verified.body.dns_records.filter((each: Json) => each.required)
      expect(required.map(({ type, status }: Json) => [type, status])).toEqual([
        ['CNAME', 'valid'],
        ['CNAME', 'valid'],
        ['CNAME', 'valid'],
      ])
    })

    test('new keys without a change of the customer’s DNS', async () => {
      await server.clock.advance(1_000)
      const rotated = await server.ask('POST', `/v1/domains/${domain.id}/rotate-dkim`)
      const pending = rotated.body.dkim.filter(({ state }: Json) => state === 'pending')
      expect(pending.map(({ selector }: Json) => selector.slice(-2))).toEqual(['2r', '2e'])
      const key = await dig(`${pending[0].selector}._domainkey.${CUSTOMER}`, 'TXT', `@${RESOLVER}`)
      expect(key).toContain(`CNAME\t${pending[0].selector}.${label}.${ZONE}.`)
    })

    test('new keys sign an hour after all name servers show them, and the old ones stay in DNS', async () => {
      const keys = async () => (await server.read(`/v1/domains/${domain.id}`)).dkim
      const [old, , next] = await keys()
      const shown = (selector: string) => dig(`${selector}._domainkey.${CUSTOMER}`, 'TXT', `@${RESOLVER}`)
      await until('the new key', async () => !(await shown(next.selector)).includes('p="'))
      const verify = () => server.ask('POST', `/v1/domains/${domain.id}/verify`)
      const states = ({ body }: Json) => body.dkim.map(({ state }: Json) => state)
      const waiting = ['active', 'active', 'pending', 'pending']
      expect(states(await verify())).toEqual(waiting)
      server.clock.jump(59 * 60_000)
      expect(states(await verify())).toEqual(waiting)
      server.clock.jump(60_000)
      expect(states(await verify())).toEqual(['retiring', 'retiring', 'active', 'active'])
      for (const { selector } of [old, next]) expect(await shown(selector)).toContain('"v=DKIM1; k=rsa; p=MII')
    })
  })

  describe('answers dig and kdig', () => {
    test.each([
      ['SOA', ZONE, ['status: NOERROR', 'flags: qr aa', 'ANSWER: 1', `ns1.${ZONE}. postmaster.${HOSTNAME}. 1 3600`]],
      ['NS', ZONE, ['ANSWER: 2', `ns2.${ZONE}.`]],
      ['A', `ns1.${ZONE}`, [US]],
      ['TXT', ZONE, ['"v=spf1 -all"']],
      ['A', `nowhere.${ZONE}`, ['status: NXDOMAIN', 'AUTHORITY: 1', 'SOA']],
      ['DNSKEY', ZONE, ['status: NOERROR', 'ANSWER: 0', 'AUTHORITY: 1', 'SOA']],
      ['TYPE65280', `ns1.${ZONE}`, ['status: NOERROR', 'ANSWER: 0', 'AUTHORITY: 1']],
      ['AAAA', `ns1.${ZONE}`, ['status: NOERROR', 'ANSWER: 0', 'AUTHORITY: 1']],
      ['A', 'example.org', ['status: REFUSED', 'ANSWER: 0']],
      ['ANY', ZONE, ['status: NOERROR', 'ANSWER: 1']],
      ['AXFR', ZONE, ['Transfer failed']],
    ])('%s %s', async (type, name, words) => {
      const output = await dig(name, type)
      for (const word of words) expect(output).toContain(word)
      if (type !== 'AXFR') expect(output).not.toMatch(/flags:[^;]* ra/)
    })

    test('class CH, another opcode and an unknown EDNS version', async () => {
      expect(await dig('version.bind', 'TXT', `@${US}`, '-c', 'CH')).toContain('status: REFUSED')
      expect(await dig(ZONE, 'SOA', `@${US}`, '+opcode=NOTIFY')).toContain('status: NOTIMP')
      expect(await dig(ZONE, 'SOA', `@${US}`, '+edns=7', '+noednsnegotiation')).toContain('status: BADVERS')
      expect(await dig(ZONE, 'SOA', `@${US}`, '+header-only')).toContain('status: FORMERR')
    })

    test('with EDNS options that it has no answer for, with DO, and without EDNS', async () => {
      const many = await dig(
        ZONE,
        'SOA',
        `@${US}`,
        '+nsid',
        '+cookie',
        '+subnet=192.0.2.0/24',
        '+dnssec',
        '+padding=128',
      )
      expect(many).toContain('status: NOERROR')
      expect(many).toMatch(/EDNS: version: 0, flags: do; udp: 1232/)
      expect(await dig(ZONE, 'SOA', `@${US}`, '+noedns')).not.toContain('EDNS')
    })

    test('in the letter case of the question', async () => {
      expect(await dig(ZONE.toUpperCase(), 'SOA')).toContain(`${ZONE.toUpperCase()}.\t`)
    })

    test('kdig over TCP, several questions on one connection', async () => {
      const { exitCode, output } = await run([
        ...['kdig', `@${US}`, '+tcp', '+keepopen', '+time=60', '+retry=0'],
        ...[ZONE, 'SOA', `nowhere.${ZONE}`, 'A', `bounces.${label}.${ZONE}`, 'MX'],
      ])
      expect(exitCode).toBe(0)
      expect(output.match(/status: (\w+)/g)).toEqual(['status: NOERROR', 'status: NXDOMAIN', 'status: NOERROR'])
      expect(output).toContain(`10 ${HOSTNAME}.`)
    })

    test('kdig with a key of 2048 bits, within 512 bytes and beyond', async () => {
      const { output } = await run(['kdig', `@${US}`, `${domain.dkim[0].selector}.${label}.${ZONE}`, 'TXT'])
      expect(output.replaceAll('" "', '')).toContain('v=DKIM1; k=rsa; p=')
    })
  })

  describe('over TCP', () => {
    const connect = () => net.connect(53, US)

    test('answers a query that arrives byte by byte, and many at once', async () => {
      const received = await new Promise<number[]>((resolve, reject) => {
        const socket = connect()
        const take = framedMessages()
        const ids: number[] = []
        socket.on('error', reject)
        socket.on('data', (bytes: Buffer) => {
          for (const message of take(bytes)) ids.push(packet.decode(message).id ?? -1)
          if (ids.length < 21) return
          socket.destroy()
          resolve(ids)
        })
        socket.setNoDelay(true)
        for (const byte of frameMessage(query(ZONE, 'SOA', { id: 1 }))) socket.write(Buffer.from([byte]))
        const many = Array.from({ length: 20 }, (_, at) => frameMessage(query(ZONE, 'NS', { id: at + 2 })))
        socket.write(Buffer.concat(many))
      })
      expect(received).toEqual(Array.from({ length: 21 }, (_, at) => at + 1))
    })

    test('disconnects a client that announces a long query, sends a response, or is slow', async () => {
      const endOf = (bytes: Buffer) =>
        new Promise<void>((resolve) => {
          const socket = connect()
          socket.on('error', () => {})
          socket.on('close', () => resolve())
          socket.write(bytes)
        })
      const response = query(ZONE, 'SOA', edns())
      response[2] = 0x80
      await Promise.all([endOf(Buffer.from([0xff, 0xff, 0])), endOf(frameMessage(response)), endOf(Buffer.from([0]))])
    })
  })

  test('passes the health check of the delegation, and a zone that is not delegated fails', async () => {
    const asking = {
      servers: [`${RESOLVER}:53`],
      clock: systemClock,
      random: systemRandom,
      maxCacheEntries: 0,
      timeoutMs: 60_000,
    }
    const resolver = createResolver(asking)
    const delegation = delegationQueries({ resolver, random: systemRandom, timeoutMs: 60_000 })
    const nameServers = [`ns1.${ZONE}`, `ns2.${ZONE}`]
    expect(await checkDelegation({ delegated: { zone: ZONE, nameServers } }, { resolver, delegation })).toEqual({
      status: 'pass',
      message: `${ZONE} is delegated to ns1.${ZONE}, ns2.${ZONE}, which answer over UDP and TCP`,
      advice: null,
    })
    const other = { delegated: { zone: 'other.example.net', nameServers } }
    expect(await checkDelegation(other, { resolver, delegation })).toMatchObject({ status: 'fail' })
    resolver.close()
  })

  test('counts its answers', async () => {
    await until('the counts', async () => {
      const { text } = await server.ask('GET', '/metrics')
      return /postrider_dns_queries_total\{type="SOA",code="NOERROR",transport="udp"\} \d/.test(text)
    })
  })
})

async function dig(name: string, type: string, ...options: string[]): Promise<string> {
  const at = options.some((each) => each.startsWith('@')) ? [] : [`@${US}`]
  const { output } = await run([
    'dig',
    ...at,
    '+time=60',
    '+tries=1',
    '+noall',
    '+comments',
    '+answer',
    '+authority',
    ...options,
    name,
    type,
  ])
  return output
}

const linesOf = (records: Json[]): string[] =>
  records.map(({ type, name, value, priority }) => {
    const text = String(value)
      .match(/.{1,255}/g)
      ?.map((part) => JSON.stringify(part))
      .join(' ')
    return `${name}. IN ${type} ${type === 'TXT' ? text : `${priority ?? ''} ${value}.`}`
  })

/** The records of a domain without a zone. */
async function directLines(server: TestServer, id: string): Promise<string[]> {
  const domain = await server.store().domains.get(id)
  return linesOf(dnsRecords(domain!, ownServer(HOSTNAME)))
}
