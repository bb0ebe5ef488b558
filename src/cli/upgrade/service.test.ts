import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceOf } from './service.ts'

/** systemd does not run where tests run, so a script in its place records what it is asked for. */

const folder = mkdtempSync(join(tmpdir(), 'postrider-systemctl-'))
const log = join(folder, 'log')
const path = process.env.PATH
beforeAll(() => {
  writeFileSync(
    join(folder, 'systemctl'),
    `#!/bin/sh\necho "$*" >>${log}\n[ "$1" != restart ] || { echo 'Job for x.service failed.' >&2; exit 1; }\n`,
  )
  chmodSync(join(folder, 'systemctl'), 0o755)
  process.env.PATH = `${folder}:${path}`
})
afterAll(() => {
  process.env.PATH = path
  rmSync(folder, { recursive: true })
})
beforeEach(() => rmSync(log, { force: true }))
const asked = () => readFileSync(log, 'utf8').trim().split('\n')

test('a unit is stopped and started by systemctl, also after too many failed starts', async () => {
  const service = serviceOf({ unit: 'x.service' })
  expect(await service.restart(5_000)).toBe('systemctl restart x.service: Job for x.service failed.')
  expect(await service.stop()).toBeNull()
  expect(await service.start(5_000)).toBeNull()
  expect(asked()).toEqual(['restart x.service', 'stop x.service', 'reset-failed x.service', 'start x.service'])
})

test('a command that takes longer than its limit fails', async () => {
  const service = serviceOf({ stop: 'exec sleep 60', start: 'exec sleep 60' })
  expect(await service.start(50)).toBe('exec sleep 60: not finished after 0.05 s')
})

test('commands stop the server before they start it, and their exit codes count', async () => {
  const service = serviceOf({ stop: `echo stop >>${log}`, start: `echo start >>${log}; exit 3` })
  expect(await service.restart(5_000)).toBe(`echo start >>${log}; exit 3: exit code 3`)
  expect(asked()).toEqual(['stop', 'start'])
  const broken = serviceOf({ stop: 'exit 4', start: `echo start >>${log}` })
  expect(await broken.restart(5_000)).toBe('exit 4: exit code 4')
  expect(asked()).toEqual(['stop', 'start'])
})
