import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SourceFailure, sourceOf, textOf } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-source-'))
writeFileSync(join(folder, 'file'), 'content')
mkdirSync(join(folder, 'sub'))

const answers: Record<string, () => Response> = {
  '/release/file': () => new Response('content'),
  '/release/large': () => new Response('x'.repeat(2000)),
  '/release/endless': () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(Buffer.alloc(500)),
      }),
    ),
  '/release/moved': () => Response.redirect('/release/file', 302),
  '/release/script': () => new Response(null, { status: 302, headers: { location: 'file:///etc/passwd' } }),
  '/release/empty': () => new Response(null, { status: 204 }),
}
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) => answers[new URL(url).pathname]?.() ?? new Response('no', { status: 404 }),
})
const origin = `http://127.0.0.1:${server.port}`
afterAll(async () => {
  await server.stop(true)
  rmSync(folder, { recursive: true })
})

const read = (from: string, file: string) =>
  (async () => textOf(sourceOf(from), file, 1000))().catch((error: unknown) => {
    if (error instanceof SourceFailure) return `fault: ${error.message}`
    throw error
  })

test('a file is read from a folder and from a URL, with or without a slash at its end', async () => {
  for (const from of [folder, `${origin}/release`, `${origin}/release/`])
    expect(await read(from, 'file')).toBe('content')
})

test('a file that is missing, is too large or is none is refused', async () => {
  expect(await read(folder, 'missing')).toBe(`fault: ${folder}/missing: no such file`)
  expect(await read(folder, 'sub')).toBe(`fault: ${folder}/sub: not a file`)
  writeFileSync(join(folder, 'large'), 'x'.repeat(2000))
  expect(await read(folder, 'large')).toBe(`fault: ${folder}/large: larger than 1000 bytes`)
  const url = `${origin}/release`
  expect(await read(url, 'missing')).toBe(`fault: ${url}/missing: the server answered 404`)
  expect(await read(url, 'empty')).toBe(`fault: ${url}/empty: the server answered 204`)
  expect(await read(url, 'large')).toBe(`fault: ${url}/large: larger than 1000 bytes`)
  expect(await read(url, 'endless')).toBe(`fault: ${url}/endless: larger than 1000 bytes`)
  expect(await read('http://127.0.0.1:1', 'file')).toStartWith('fault: http://127.0.0.1:1/file: ')
})

test('a redirect leads to https only', async () => {
  const url = `${origin}/release`
  for (const file of ['moved', 'script']) {
    expect(await read(url, file)).toBe(`fault: ${url}/${file}: a redirect must lead to https://`)
  }
})

test('other schemes and passwords are refused', async () => {
  expect(await read('ftp://mirror.example/x', 'file')).toContain(
    'expected a folder, or a URL that begins with https://',
  )
  expect(await read('file:///etc', 'passwd')).toContain('expected a folder, or a URL that begins with https://')
  expect(await read('https://me:secret@mirror.example', 'file')).toBe('fault: the URL may not contain a password')
})
