import { afterEach, beforeEach, expect, test } from 'bun:test'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTryOut } from '../../src/cli/try/open.ts'
import { silentLog } from '../../src/os/log.ts'

const { TMPDIR } = process.env
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-open-'))
  process.env.TMPDIR = folder
})
afterEach(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
  rmSync(folder, { recursive: true })
})

const open = (http: number) =>
  openTryOut({
    ports: { http, inbound: 0, submission: 0 },
    log: silentLog,
    onMail: () => {},
    onCall: () => {},
    onInbound: () => {},
  })

test('a try-out has a folder until it stops', async () => {
  const running = await open(0)
  expect(readdirSync(folder)).toHaveLength(1)
  await running.stop()
  expect(readdirSync(folder)).toEqual([])
})

test('a try-out whose port is in use names the option, and has removed its folder by then', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const failure = await open(port).catch((error) => ({ message: error.message, left: readdirSync(folder) }))
  const message = expect.stringContaining(`port: 127.0.0.1:${port} is in use by another program.`)
  expect(failure).toEqual({ message, left: [] })
  taken.close()
})
