import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { until } from '../support/patience.ts'
import { sendUntilAcknowledged } from './http-client.ts'
import { exitOf, makeTestInstallation, PROGRAM, type TestInstallation } from './setup.ts'

/** Backups of the built program under load, killed or not, and their restores. */

const CLIENTS = 8
const KILLS = Number(process.env.CRASH_KILLS ?? 6)

let installation: TestInstallation
beforeAll(async () => {
  installation = await makeTestInstallation()
})
afterAll(() => installation?.close())

let isSending = false
afterEach(async () => {
  isSending = false
  await installation.halt()
})

const command = (...args: string[]) =>
  spawn(PROGRAM, [...args, '--config', join(installation.folder, 'config.toml')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
const ended = async (...args: string[]) => {
  const code = await exitOf(command(...args))
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}`)
}
const at = (name: string) => join(installation.folder, name)
const leftovers = () => readdirSync(installation.folder).filter((name) => name.startsWith('.postrider-'))

/** The duration to its end, in milliseconds. */
async function lengthOf(...args: string[]): Promise<number> {
  const startedAt = performance.now()
  await ended(...args)
  return performance.now() - startedAt
}

/** Kill times within `lengthMs`: spread over it, each random within its part. If the work ends before its kill, it
 *  was faster than measured, and the next kills come earlier. */
function killsOf(lengthMs: number, ...args: string[]) {
  let [hits, currentMs] = [0, lengthMs]
  return {
    hits: () => hits,
    next: async (kill: number) => {
      const startedAt = performance.now()
      const child = command(...args)
      const timer = setTimeout(() => child.kill('SIGKILL'), ((kill + Math.random()) / KILLS) * currentMs)
      await exitOf(child)
      clearTimeout(timer)
      if (child.signalCode === 'SIGKILL') hits++
      else currentMs = Math.min(currentMs, performance.now() - startedAt)
    },
  }
}

test('a backup under load contains everything acknowledged before; restored, it sends nothing by itself', async () => {
  installation.sink.answer = '450 4.7.1 later'
  let server = await installation.serve()
  const acknowledged = new Map<string, string>()
  isSending = true
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let n = 0; isSending; n++) await sendUntilAcknowledged(installation, `${client}-${n}`, acknowledged)
  })
  await until('some load', () => acknowledged.size > 50)
  const before = new Map(acknowledged)
  await ended('backup', at('one.tar.zst'))
  expect(acknowledged.size).toBeGreaterThan(before.size)
  isSending = false
  await Promise.all(clients)
  const [someId] = before.values()
  const raw = await (await installation.api('GET', `/v1/messages/${someId}/content?part=raw`)).text()
  expect(raw.match(/^DKIM-Signature:/gm)).toHaveLength(2)
  server.kill('SIGTERM')
  await exitOf(server)

  await ended('restore', at('one.tar.zst'), '--replace')
  const ids = idsIn(installation.dataDir)
  expect([...before.values()].filter((id) => !ids.has(id))).toEqual([])

  installation.sink.answer = '250 ok'
  server = await installation.serve()
  expect(readFileSync(at('log'), 'utf8')).toMatch(/on hold since a restore.*"deliveries":\d+/)
  expect(await (await installation.api('GET', `/v1/messages/${someId}/content?part=raw`)).text()).toBe(raw)
  const fresh = new Map<string, string>()
  await sendUntilAcknowledged(installation, 'fresh', fresh)
  await until('new mail to arrive', () => installation.sink.mails.has('fresh'))
  expect([...installation.sink.mails.keys()]).toEqual(['fresh'])
  const explained = await (await installation.api('GET', `/v1/messages/${someId}/explain`)).json()
  expect((explained as { recipients: { explanation: string[] }[] }).recipients[0]!.explanation[0]).toMatch(/is held/)

  await ended('restore', 'release', '--all')
  await until('what was held to arrive', () => [...before.keys()].every((token) => installation.sink.mails.has(token)))
  expect([...installation.sink.mails.values()].filter((copies) => copies.length > 1)).toEqual([])
  server.kill('SIGTERM')
  expect(await exitOf(server)).toBe(0)
})

test(`${KILLS} kills during a backup leave the previous one intact, and the next one cleans up`, async () => {
  const kills = killsOf(await lengthOf('backup', at('two.tar.zst')), 'backup', at('two.tar.zst'))
  for (let kill = 0; kill < KILLS; kill++) {
    await kills.next(kill)
    await ended('restore', '--verify', at('two.tar.zst'))
  }
  expect(kills.hits()).toBeGreaterThan(0)
  await ended('backup', at('two.tar.zst'))
  expect(leftovers()).toEqual([])
})

test(`${KILLS} kills during a restore leave a complete data directory, old or new`, async () => {
  await ended('backup', at('three.tar.zst'))
  const backedUp = idsIn(installation.dataDir).size
  const restore = ['restore', at('three.tar.zst'), '--replace']
  const kills = killsOf(await lengthOf(...restore), ...restore)
  for (let kill = 0; kill < KILLS; kill++) {
    await ended('send', '--from', 'a@example.com', '--to', `b${kill}@example.org`, '--subject', 's', '--text', 't')
    const old = idsIn(installation.dataDir).size
    expect(old).toBeGreaterThan(backedUp)
    await kills.next(kill)
    expect(existsSync(join(installation.dataDir, 'seal.key'))).toBe(true)
    expect([old, backedUp]).toContain(idsIn(installation.dataDir).size)
  }
  expect(kills.hits()).toBeGreaterThan(0)
  await ended(...restore)
  expect(leftovers()).toEqual([])
  for (const name of readdirSync(installation.folder).filter((each) => each.includes('.before-restore-'))) {
    rmSync(at(name), { recursive: true })
  }
  const server = await installation.serve()
  server.kill('SIGTERM')
  expect(await exitOf(server)).toBe(0)
})

/** The messages of an intact database. */
function idsIn(dataDir: string): Set<string> {
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 1_000 })
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    return new Set(db.prepare('select id from messages').pluck().all() as string[])
  } finally {
    db.close()
  }
}
