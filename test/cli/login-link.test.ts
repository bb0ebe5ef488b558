import { afterEach, beforeEach, expect, test } from 'bun:test'
import { start, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

const postrider = postriderInOneProcess()
let place: ReturnType<typeof testFolder>
const undo: (() => void)[] = []
beforeEach(() => {
  place = testFolder()
})
afterEach(() => {
  for (const step of undo.splice(0)) step()
  place.remove()
})

const WITH = () => ['--config', place.file]

test('a link made beside a running server opens its dashboard once', async () => {
  place.writeConfig()
  const server = await start('serve', ...WITH())
  undo.push(() => server.kill('SIGKILL'))
  const { http } = JSON.parse(await server.line)
  const { code, stdout } = await postrider('login-link', '--json', ...WITH())
  expect(code).toBe(0)
  const { url, expires_at } = JSON.parse(stdout)
  expect(Date.parse(expires_at)).toBeGreaterThan(0)
  const { hash, pathname, host } = new URL(url)
  expect([host, pathname, hash]).toEqual([
    http,
    '/dashboard/sign-in',
    expect.stringMatching(/^#token=[0-9A-Za-z]{40}$/),
  ])
  const open = () =>
    fetch(`http://${http}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-operator': '1' },
      body: JSON.stringify({ token: hash.slice('#token='.length) }),
    })
  const first = await open()
  expect(first.status).toBe(201)
  expect((await open()).status).toBe(401)

  const headers = {
    'content-type': 'application/json',
    'x-operator': '1',
    cookie: first.headers.get('set-cookie')!.split(';', 1)[0]!,
  }
  const body = JSON.stringify({ password: 'a long enough one' })
  expect((await fetch(`http://${http}/session/password`, { method: 'POST', headers, body })).status).toBe(200)
  expect((await postrider('login-link', '--remove-password', ...WITH())).stdout).toContain('/dashboard/sign-in#token=')
  expect((await fetch(`http://${http}/session`, { headers })).status).toBe(401)
  server.kill('SIGTERM')
  expect((await server.ended).stdout).not.toContain(hash)
})

test('a link belongs to the operator that --user names, which is needed if there are several', async () => {
  place.writeConfig()
  await postrider('user', 'add', 'first@example.com', '--operator', ...WITH())
  await postrider('user', 'add', 'second@example.com', '--operator', ...WITH())
  const without = await postrider('login', ...WITH())
  expect([without.code, without.stderr]).toEqual([
    2,
    expect.stringContaining('--user: first@example.com, second@example.com'),
  ])
  expect((await postrider('login', '--user', 'ann@example.com', ...WITH())).stderr).toContain('no operator ann@')
  const server = await start('serve', ...WITH())
  undo.push(() => server.kill('SIGKILL'))
  const { http } = JSON.parse(await server.line)
  const { stdout } = await postrider('login', '--user', 'Second@example.com', '--json', ...WITH())
  const answer = await fetch(`http://${http}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-operator': '1' },
    body: JSON.stringify({ token: new URL(JSON.parse(stdout).url).hash.slice('#token='.length) }),
  })
  expect(((await answer.json()) as { user: { email: string } }).user.email).toBe('second@example.com')
  server.kill('SIGTERM')
  await server.ended
})

test('a link comes with the ssh command for a remote server', async () => {
  place.writeConfig('127.0.0.1:8025')
  const { code, stdout, stderr } = await postrider('login-link', ...WITH())
  expect([code, stdout.startsWith('http://127.0.0.1:8025/dashboard/sign-in#token=')]).toEqual([0, true])
  expect(stderr).toContain('ssh -L 8025:127.0.0.1:8025')
})
