import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { startZone } from '../../src/cli/try/zone-server.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { listenForStates } from '../support/notify-socket.ts'
import { until } from '../support/patience.ts'
import { startRemoteMx } from '../support/remote-mx.ts'
import { postrider, start, startWith, testFolder } from './command.ts'

interface Entry {
  action: string
  actor: { name: string }
  outcome: string
}

describe('serve', () => {
  let place: ReturnType<typeof testFolder>
  const undo: (() => unknown)[] = []
  beforeEach(() => {
    place = testFolder()
    place.writeConfig()
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
    place.remove()
  })

  const serve = async () => {
    const server = await start('serve', '--config', place.file)
    undo.push(() => server.kill('SIGKILL'))
    return server
  }

  test('prints once where it listens, answers there, and exits 0 at SIGTERM and at SIGINT', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const server = await serve()
      const ready = JSON.parse(await server.line)
      expect(ready).toEqual({
        event: 'ready',
        http: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        https: null,
        http_redirect: null,
        smtp_inbound: null,
        smtp_submission: null,
        smtp_submission_tls: null,
        dns: null,
        metrics: null,
      })
      expect((await fetch(`http://${ready.http}/healthz`)).status).toBe(200)
      server.kill('SIGHUP')
      server.kill(signal)
      const { code, stdout } = await server.ended
      expect(code).toBe(0)
      expect(stdout.trim().split('\n')).toHaveLength(1)
    }
  })

  test('notifies systemd when it is ready, responds and stops', async () => {
    const listener = listenForStates(join(place.folder, 'notify'))
    undo.push(() => listener.close())
    const env = { NOTIFY_SOCKET: join(place.folder, 'notify'), WATCHDOG_USEC: '20000' }
    const server = await startWith(env, 'serve', '--config', place.file)
    undo.push(() => server.kill('SIGKILL'))
    let states = ''
    const reports = (state: string) =>
      until(state, () => {
        if (!states.includes(state)) states += `${listener.receive()} `
        return states.includes(state)
      })
    await reports('READY=1')
    await reports('WATCHDOG=1')
    expect(states.trimStart()).toStartWith('READY=1 ')
    server.kill('SIGTERM')
    await reports('STOPPING=1')
    expect((await server.ended).code).toBe(0)
  })

  test('records a config reload in the audit log', async () => {
    const server = await serve()
    await server.line
    const entries = async () => {
      const { stdout } = await postrider('audit', '--json', '--config', place.file)
      return JSON.parse(stdout).data.map(({ action, actor, outcome }: Entry) => [action, actor.name, outcome])
    }
    const reload = async (count: number) => {
      server.kill('SIGHUP')
      let reported: string[][] = []
      await until('the reload to be recorded', async () => {
        reported = await entries()
        return reported.length >= count
      })
      return reported
    }
    expect(await reload(1)).toEqual([['config_reload', 'signal', 'done']])
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  test('a second server on the same data directory exits 3, and the first continues', async () => {
    const first = await serve()
    const { http } = JSON.parse(await first.line)
    const second = await postrider('serve', '--config', place.file)
    expect(second).toMatchObject({ code: 3, stdout: '' })
    expect(second.stderr).toStartWith(`another Postrider server uses ${place.dataDir}. Stop it first`)
    expect((await fetch(`http://${http}/healthz`)).status).toBe(200)
    first.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)
  })

  test('a used port is one line and exit code 1', async () => {
    const occupant = createServer().listen(0, '127.0.0.1')
    await once(occupant, 'listening')
    undo.push(() => occupant.close())
    const { port } = occupant.address() as AddressInfo
    place.writeConfig(`127.0.0.1:${port}`)
    const refused = await postrider('serve', '--config', place.file)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr.trim()).toBe(
      `http.listen: 127.0.0.1:${port} is in use by another program. Find it as root: ss -lntup sport = :${port}`,
    )
  })

  test('invalid certificate files, or a key that does not match, are one line and exit code 2', async () => {
    const [pem, key] = [join(place.folder, 'cert.pem'), join(place.folder, 'key.pem')]
    const smtp = `certificate_file = "${pem}"\nkey_file = "${key}"\n`
    place.writeConfig('127.0.0.1:0', `[smtp.submission]\nlisten = "127.0.0.1:0"\n[smtp]\n${smtp}`)
    const refusal = async () => {
      const { code, stdout, stderr } = await postrider('serve', '--config', place.file)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      return stderr.trim()
    }
    const made = () => selfSignedCertificate({ names: ['mail.example.com'], now: Date.now() })
    const [one, other] = await Promise.all([made(), made()])
    writeFileSync(pem, 'no certificate')
    writeFileSync(key, other.keyPem)
    expect(await refusal()).toBe(`${pem} is not a PEM certificate`)
    writeFileSync(pem, one.certificatePem)
    expect(await refusal()).toBe(`${key} is not the key of ${pem}`)
    writeFileSync(key, 'no key')
    expect(await refusal()).toBe(`${key} is not a PEM private key`)
  })

  test('a program on this machine may log in to submission in cleartext', async () => {
    place.writeConfig('127.0.0.1:0', '[smtp.submission]\nlisten = "127.0.0.1:0"\n')
    const init = await postrider('init', '--config', place.file, '--domain', 'example.com', '--skip-checks', '--json')
    const server = await serve()
    const [host, port] = JSON.parse(await server.line).smtp_submission.split(':')
    const login = (pass: string) =>
      createTransport({ host, port: Number(port), ignoreTLS: true, auth: { user: 'x', pass } }).verify()
    expect(await login(JSON.parse(init.stdout).api_key)).toBe(true)
    await expect(login('svc_live_no')).rejects.toThrow('535 5.7.8')
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  test('an invalid store is one line and exit code 1', async () => {
    await postrider('org', 'create', 'First', '--config', place.file)
    writeFileSync(join(place.dataDir, 'postrider.db'), Buffer.alloc(8192, 'no database '))
    const refused = await postrider('serve', '--config', place.file)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr.trim().split('\n')).toHaveLength(1)
    expect(refused.stderr).toContain(`data_dir ${place.dataDir}: `)
  })

  test('a store of a newer version is one line and exit code 1', async () => {
    await postrider('org', 'create', 'First', '--config', place.file)
    const db = connect(join(place.dataDir, 'postrider.db'), { busyTimeoutMs: 1000 })
    db.exec("insert into migrations (number, name, checksum, applied_at) values (999, '0999_later', 'x', 0)")
    db.close()
    for (const args of [['serve'], ['org', 'list']]) {
      const refused = await postrider(...args, '--config', place.file)
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr.trim().split('\n')).toHaveLength(1)
      expect(refused.stderr).toContain('a newer Postrider wrote the data directory')
    }
  })

  test('a message submitted while no server runs waits for it, and one beside a running server is noticed', async () => {
    const mx = await startRemoteMx()
    undo.push(() => mx.stop())
    const zone = await startZone([
      { name: 'example.net', type: 'MX', data: { preference: 10, exchange: 'mx.example.net' } },
      { name: 'mx.example.net', type: 'A', data: '127.0.0.1' },
    ])
    undo.push(() => zone.stop())
    const delivery = `[delivery]\nport = ${mx.port}\nallow_private_destinations = true`
    place.writeConfig('127.0.0.1:0', `${delivery}\n[dns]\nservers = ["${zone.address}"]\n`)
    const command = (...args: string[]) => postrider(...args, '--config', place.file, '--json')

    const made = JSON.parse((await command('init', '--domain', 'example.com', '--skip-checks')).stdout)
    zone.fail('_dmarc.example.com', 'SERVFAIL')
    expect((await command('domain', 'verify', 'example.com')).stderr).toContain('DNS did not answer')
    zone.fail('_dmarc.example.com', null)
    expect(await command('domain', 'verify', 'example.com')).toMatchObject({ code: 1, stderr: '' })
    for (const { type, name, value, priority } of made.dns_records) {
      zone.set(name, type, [priority === null ? value : { preference: priority, exchange: value }])
    }
    const verified = await command('domain', 'verify', 'example.com')
    expect(JSON.parse(verified.stdout).status).toBe('verified')
    expect(verified.code).toBe(0)

    const send = (subject: string, ...more: string[]) =>
      command('send', '--from', 'a@example.com', '--to', 'b@example.net', '--subject', subject, '--text', 'x', ...more)
    const waiting = await send('first', '--wait', '1')
    expect(JSON.parse(waiting.stdout).status).toBe('queued')
    expect(waiting.stderr).toContain('No server is running on this data directory')
    expect(waiting.code).toBe(1)

    const server = await serve()
    await server.line
    expect((await mx.received(1))[0]!.raw.toString()).toContain('Subject: first')
    const beside = await send('second', '--wait', '3600')
    expect(beside).toMatchObject({ code: 0, stderr: '' })
    const answer = JSON.parse(beside.stdout)
    expect(answer.status).toBe('delivered')
    expect(answer.recipients[0].smtp_response).toStartWith('250 ')
    expect(mx.mails).toHaveLength(2)

    const steps = (await send('third', '--follow')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(steps).toMatchObject([
      { status: 'queued' },
      {
        status: 'delivered',
        recipient: 'b@example.net',
        attempt: 1,
        mx_host: 'mx.example.net',
        next_attempt_at: null,
      },
    ])
    expect(steps[1]).toMatchObject({ message_id: steps[0].id, smtp_response: expect.stringMatching(/^250 /) })

    // The key that init created works on a server that started later.
    const { http } = JSON.parse(await server.line)
    const read = await fetch(`http://${http}/v1/messages/${answer.id}`, {
      headers: { authorization: `Bearer ${made.api_key}` },
    })
    expect(await read.json()).toMatchObject({ subject: 'second', status: 'delivered' })
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })
})
