import { afterAll, beforeAll, expect, test } from 'bun:test'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { TEST_LIMIT_MS, until } from '../support/patience.ts'
import { describeWith } from '../support/real-tools.ts'
import { debianArchive, debianPackage, nextRelease } from './debian.ts'
import { type Machine, startMachine } from './machine.ts'
import { reverseOf } from './name-server.ts'
import { addressesOf } from './network.ts'
import { blockFrom, blocksOf, blocksOn, lineFrom } from './pages.ts'
import { startWorld, type World } from './world.ts'

/** The way of an operator from the download to a second node, on clean machines that systemd has started. The commands are
 *  those of the manual, as they stand there; each test says which page. Not in the manual: the config names the authority
 *  and its certificate, because there is no Let's Encrypt in this world. */
const TOOLS = ['root', 'namespaces', 'mmdebstrap', 'systemd-nspawn', 'named', 'pebble', 'postgresql', 'minisign']

describeWith(TOOLS, 'the way of the manual', () => {
  let world: World
  let machine: Machine
  const undo: (() => unknown)[] = []

  beforeAll(async () => {
    const deb = await debianPackage()
    await nextRelease()
    await debianArchive()
    world = await startWorld()
    undo.push(world.stop)
    machine = await startMachine('mail.example.com', 10, world.network)
    undo.push(machine.stop)
    machine.put(deb, 'root/postrider_0.1.0_amd64.deb')
    machine.put(world.certificateFile, 'root/world.pem')
  }, 4 * TEST_LIMIT_MS)
  afterAll(async () => {
    try {
      if (failed !== null) await explain()
    } finally {
      for (const step of undo.reverse()) await step()
    }
  }, TEST_LIMIT_MS)

  let failed: string | null = null
  /** Each step needs those before it. */
  const step = (name: string, run: () => Promise<void>) =>
    test(name, async () => {
      if (failed !== null) throw new Error(`not run, because this failed: ${failed}`)
      failed = name
      await run()
      failed = null
    })

  /** Prints what a person would look at after a step failed. */
  const explain = async () => {
    const looks = [
      'journalctl --no-pager -u postrider -n 60',
      'postrider message list',
      'postrider webhook list --json',
    ]
    for (const look of machine === undefined ? [] : looks) console.error((await machine.run(look)).output)
    console.error(world?.posts().map(({ url, headers }) => `${url} ${headers['x-service-delivery-attempt'] ?? ''}`))
  }

  /** Runs the blocks of install.md for the server from one that contains `first` to one that contains `last`. */
  const install = async (first: string, last = first) => {
    const blocks = blocksOn('install', 'the server')
    const [from, to] = [first, last].map((text) => blocks.findIndex(({ lines }) => lines.includes(text)))
    let output = ''
    if (from! < 0 || to! < from!) throw new Error(`install.md has no blocks from “${first}” to “${last}”`)
    for (const { lines, code } of blocks.slice(from, to! + 1)) output += await machine.must(lines, code)
    return output
  }
  const configure = (lines: string) => appendFileSync(join(machine.root, 'etc/postrider/config.toml'), lines)
  const restart = () => machine.must('postrider config check && systemctl restart postrider')
  const curl = (...args: string[]) => world.network.must(['curl', '-sS', '--fail', '--cacert', world.rootFile, ...args])

  step('the package installs without a network (install.md, 1)', async () => {
    await machine.must(blockFrom('install', 'apt install ./'))
    expect(await machine.must('postrider version')).toContain('0.1.0')
  })

  step('doctor names what is missing, and init sets up the server with HTTPS (2)', async () => {
    const report = await install('postrider doctor')
    expect(report).toContain('mail.example.com')
    const printed = await install('postrider init')
    expect(printed).toContain('Admin API key')
    const file = join(machine.root, 'etc/postrider/config.toml')
    const config = readFileSync(file, 'utf8')
    expect(config).toContain('listen_tls = "[::]:443"')
    await machine.must('install -m 644 /root/world.pem /etc/postrider/world.pem')
    const authority =
      'acme_directory = "https://acme.example.com:14000/dir"\nacme_ca_file = "/etc/postrider/world.pem"\n'
    writeFileSync(file, config.replace('[tls]\n', `[tls]\n${authority}`))
  })

  step('dns check waits until BIND has the records that dns show prints (3)', async () => {
    expect(await install('postrider dns show')).toContain('mail.example.com')
    const zone = await machine.must('postrider dns show example.com --zone')
    const waiting = install('postrider dns check')
    const { v4, v6 } = addressesOf(10)
    await world.dns.publish('example.com', `${zone}\nmail A ${v4}\nmail AAAA ${v6}`)
    for (const [name, lines] of Object.entries(reverseOf(10, 'mail.example.com'))) await world.dns.publish(name, lines)
    expect(await waiting).toContain('example.com')
  })

  step('the server starts, and the link opens the dashboard with a certificate for A and AAAA (4)', async () => {
    const printed = await install('systemctl enable')
    const [link] = /https:\/\/mail\.example\.com\/dashboard\/\S+/.exec(printed) ?? []
    await until('the certificate', () => curl('https://mail.example.com/readyz').catch(() => ''))
    for (const family of ['-4', '-6']) expect(await curl(family, 'https://mail.example.com/readyz')).toContain('ok')
    expect(await curl(link!)).toContain('<html')
  })

  step('doctor finds no fault', async () => {
    const { code, output } = await machine.run('postrider doctor')
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' })
  })

  step('the first mail arrives, and a refused one is explained (5)', async () => {
    const printed = await install('--to you@elsewhere', 'suppression remove')
    expect(printed).toContain('delivered')
    expect(printed).toContain('5.1.1')
    expect(world.mails().map(({ to }) => to)).toEqual([['you@elsewhere.example']])
  })

  step('mail leaves over IPv4 and over IPv6', async () => {
    const command = blockFrom('install', 'postrider send --from hello@example.com --to you@')
    for (const domain of ['four.example', 'six.example'])
      await machine.must(command.replace('elsewhere.example', domain))
    const from = world
      .mails()
      .slice(1)
      .map((mail) => mail.from)
    expect(from[0]).toEndWith(addressesOf(10).v4)
    expect(from[1]).toBe(addressesOf(10).v6)
  })
  step('a program gets a key, sends, and the receiver of the manual accepts the events (6)', async () => {
    configure('[webhooks]\nca_file = "/etc/postrider/world.pem"\n')
    await restart()
    const printed = await install('postrider key create')
    const [key, secret] = [/svc_live_\w+/, /whsec_\S+/].map((pattern) => pattern.exec(printed)![0])
    const events = world.receive(blockFrom('webhooks', 'import { createHmac'), secret!)
    await until('the receiver', () => events().includes('waiting'))
    const body = blockFrom('sending', '{\n  "from"')
    const headers = ['-H', `Authorization: Bearer ${key}`, '-H', 'Content-Type: application/json']
    const sent = JSON.parse(await curl(...headers, '-d', body, 'https://mail.example.com/v1/messages/send'))
    await until('the mail', () => world.mails().at(-1)!.to.includes('ann@customer.example'))
    await until(
      () => `the event; the receiver said: ${events()}`,
      () => /evt_\w+ message\.delivered ann@customer\.example/.test(events().replace(/[[\]'"]/g, '')),
    )
    expect(world.mails().at(-1)!.raw).toContain('Your order')
    expect(world.posts().some(({ body }) => body.includes(sent.id))).toBe(true)
  })

  step('mail for the domain arrives over IPv4 and IPv6, and a route posts it (dns.md, command-line.md)', async () => {
    const zone = await machine.must('postrider dns show example.com --zone')
    await world.dns.publish('example.com', /^; (example\.com\. .* MX .*)$/m.exec(zone)![1]!)
    // The page is written for the try-out, whose domain this is.
    await machine.must(
      lineFrom('command-line', 'postrider route create').replaceAll('postrider.example', 'example.com'),
    )
    const mail = 'From: Bob <bob@customer.example>\r\nTo: orders@example.com\r\nSubject: A question\r\n\r\nHello?\r\n'
    const envelope = ['--mail-from', 'bob@customer.example', '--mail-rcpt', 'orders@example.com', '-T', '-']
    for (const family of ['-4', '-6']) {
      await world.network.must(['curl', '-sS', family, 'smtp://mail.example.com', ...envelope], mail)
    }
    const posts = () => world.posts().filter(({ url }) => url === 'hooks.example.com/inbound')
    await until('both posts', () => posts().length === 2)
    expect(posts().map(({ body }) => JSON.parse(body).subject)).toEqual(['A question', 'A question'])
    expect(new Set(posts().map(({ body }) => isIP(JSON.parse(body).sender_ip)))).toEqual(new Set([4, 6]))
    expect(posts()[0]!.headers['x-inbound-message-id']).toStartWith('inb_')
  })

  step('a person signs in by a provider with thin tokens, as the operator (single-sign-on.md)', async () => {
    await machine.must(blockFrom('single-sign-on', 'printf').replace("'client secret'", `'${world.clientSecret}'`))
    const files = 'client_secret_file = "oidc-secret"\nca_file = "world.pem"\n'
    const roles = blockFrom('single-sign-on', '[oidc]\nroles_claim').replace('[oidc]\n', '')
    const [section] = blocksOf('single-sign-on').filter(({ lines }) => lines.startsWith('[oidc]\nissuer'))
    configure(`\n${section!.lines}${files}${roles}`)
    await restart()
    const trust = join(world.folder, 'trust.pem')
    writeFileSync(trust, `${readFileSync(world.rootFile)}${readFileSync(world.certificateFile)}`)
    const browser = [
      'curl',
      '-sS',
      '--fail',
      '--cacert',
      trust,
      '-b',
      join(world.folder, 'jar'),
      '-c',
      join(world.folder, 'jar'),
    ]
    const arrived = ['-L', '-o', '/dev/null', '-w', '%{url_effective}', 'https://mail.example.com/session/oidc']
    expect(await world.network.must([...browser, ...arrived])).toStartWith('https://mail.example.com/dashboard')
    const session = JSON.parse(await world.network.must([...browser, 'https://mail.example.com/session']))
    expect(session.user).toMatchObject({ email: 'ann@example.com', is_operator: true })
  })

  step('a backup is made now and by the timer, and restored (install.md, 7; backup.md)', async () => {
    expect(await install('postrider-backup.timer')).toContain('signed by ed25519:')
    await machine.must('systemctl start postrider-backup.service && systemctl is-active postrider-backup.timer')
    const before = await machine.must('postrider message list --json | grep -c msg_')
    for (const { lines } of blocksOn('backup', 'the server')) await machine.must(lines)
    expect(await machine.must('postrider message list --json | grep -c msg_')).toBe(before)
    await until('the server', () => curl('https://mail.example.com/readyz').catch(() => ''))
  })

  step('the program upgrades itself to a newer release (upgrade.md)', async () => {
    const next = await nextRelease()
    machine.put(next.folder, 'media/release')
    machine.put(next.signers, 'etc/postrider/signers')
    await machine.must(blockFrom('upgrade', 'postrider upgrade --from /media/release --signers'))
    expect(await machine.must('postrider version')).toContain('0.9.0')
    expect(await machine.must('systemctl is-active postrider')).toBe('active\n')
    await curl('https://mail.example.com/readyz')
  })

  step('the data moves to PostgreSQL while nothing is lost (nodes.md, move-to-postgresql.md)', async () => {
    const onDatabase = await world.startDatabase()
    for (const { lines } of blocksOn('nodes', 'the database server')) await onDatabase(lines)
    const section = blockFrom('move-to-postgresql', '[database]').replace(':secret@', ':change-me@')
    const [, url] = /url = "([^"]+)"/.exec(section)!
    await machine.must(`umask 077 && echo '${url}' > database-url && cp database-url url`)
    const before = await machine.must('postrider message list --json | grep -c msg_')
    for (const start of ['postrider migrate --to-file', 'systemctl stop']) {
      const lines = blockFrom('move-to-postgresql', start).replace('database-url', 'database-url --ca-file world.pem')
      await machine.must(lines)
    }
    configure(`\n${section}ca_file = "/etc/postrider/world.pem"\n`)
    await machine.must('postrider config check && systemctl start postrider')
    expect(await machine.must('postrider message list --json | grep -c msg_')).toBe(before)
    await machine.must(blockFrom('install', 'postrider send --from hello@example.com --to you@'))
  })

  step('a second node joins, and serves alone when the first has stopped (nodes.md)', async () => {
    const second = await startMachine('mx2.example.com', 12, world.network)
    undo.push(second.stop)
    const { v4, v6 } = addressesOf(12)
    await world.dns.publish('example.com', `mx2 A ${v4}\nmx2 AAAA ${v6}`)
    for (const [name, lines] of Object.entries(reverseOf(12, 'mx2.example.com'))) await world.dns.publish(name, lines)
    const { folder } = await nextRelease()
    second.put(join(folder, 'postrider_0.9.0_amd64.deb'), 'root/postrider_0.9.0_amd64.deb')
    await second.must(blockFrom('install', 'apt install ./').replace('0.1.0', '0.9.0'))
    for (const file of ['root/url', 'var/lib/postrider/seal.key', 'root/world.pem']) {
      second.put(join(machine.root, file), `root/${file.split('/').at(-1)}`)
    }
    await second.must('install -m 644 world.pem /etc/postrider/world.pem')
    const authority = '--database - --database-ca /etc/postrider/world.pem'
    for (const { lines } of blocksOn('nodes', 'node 2')) await second.must(lines.replace('--database -', authority))
    const [, look] = blocksOn('nodes', 'node 1')
    const nodes = await machine.must(look!.lines)
    expect(nodes).toMatch(/mail\.example\.com .* active/)
    expect(nodes).toMatch(/mx2\.example\.com .* active/)
    await machine.must('systemctl stop postrider')
    const count = world.mails().length
    await second.must(blockFrom('install', 'postrider send --from hello@example.com --to you@'))
    expect(world.mails()).toHaveLength(count + 1)
    expect(world.mails().at(-1)!.from).toContain(addressesOf(12).v4.slice(0, -2))
  })
})
