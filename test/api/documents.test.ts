import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { createTestApi, type TestApi } from '../support/api.ts'

let made: TestApi

beforeAll(async () => {
  made = await createTestApi()
})
afterAll(() => made.close())

const get = (path: string, headers: Record<string, string> = {}) => made.ask('GET', path, { key: null, headers })

describe('/openapi.json', () => {
  test('is public, and the same each time', async () => {
    const first = await get('/openapi.json')
    expect(first.status).toBe(200)
    expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(first.headers.get('access-control-allow-origin')).toBe('*')
    expect(Object.keys(first.body.paths).length).toBeGreaterThan(20)
    const other = await createTestApi()
    expect((await other.ask('GET', '/openapi.json', { key: null })).text).toBe(first.text)
    await other.close()
  })

  test('is 304 to a client that has it', async () => {
    for (const path of ['/openapi.json', '/docs']) {
      const etag = (await get(path)).headers.get('etag')!
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await get(path, { 'if-none-match': known })
        expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
      }
      expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200)
    }
  })

  test('names no machine and does not depend on where it runs', async () => {
    const { text } = await get('/openapi.json')
    expect(text).not.toContain('127.0.0.1')
    expect(text).not.toContain('postrider.test')
  })
})

describe('/docs', () => {
  const part = (html: string, tag: string) => new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)![1]!

  test('is one page that runs only its own script and style', async () => {
    const { status, text, headers } = await get('/docs')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = headers.get('content-security-policy')!.split('; ')
    const hash = (tag: string) => `'sha256-${createHash('sha256').update(part(text, tag)).digest('base64')}'`
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain(`script-src ${hash('script')}`)
    expect(policy).toContain(`style-src ${hash('style')}`)
    expect(policy.join()).not.toContain('unsafe')
    expect(text.match(/<(?:script|style)/g)).toHaveLength(2)
    expect(text).not.toMatch(/\son\w+=|\sstyle=|innerHTML|https?:\/\//)
    expect(Buffer.byteLength(text)).toBeLessThan(60_000)
  })

  test('shows every operation of the document with all its folded details', async () => {
    const { text } = await get('/docs')
    const { body: document } = await get('/openapi.json')
    const page = await draw(part(text, 'script'), document)
    const ids = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    const shown = page.all().filter((each) => each.attributes.class === 'operation')
    expect(shown.map((each) => each.attributes.id)).toEqual(expect.arrayContaining(ids))
    expect(page.found()).toBe(`${shown.length} operations`)

    page.unfold()
    const words = shown.find((each) => each.attributes.id === 'webhooks_create')!.text()
    for (const word of ['manage', '/v1/webhooks', 'curl', '"https://hooks.example.com/mail"', 'secret', 'conflict']) {
      expect(words).toContain(word)
    }
    expect(
      page
        .all()
        .map((each) => each.text())
        .join(),
    ).not.toContain('[object')

    page.search('replay')
    expect(page.found()).toBe(`1 of ${shown.length} operations`)
    expect(shown.filter((each) => !each.hidden).map((each) => each.attributes.id)).toEqual(['webhooks_replay'])
  })
})

/** A DOM element with only the members that the page's script uses. */
class Part {
  attributes: Record<string, string> = {}
  children: (Part | string)[] = []
  listeners = new Map<string, (event: unknown) => void>()
  hidden = false
  open = false
  value = ''
  constructor(readonly tag: string) {}
  get form() {
    return this
  }
  get firstElementChild() {
    return this.children[0]
  }
  set textContent(text: string) {
    this.children = [text]
  }
  setAttribute(name: string, value: unknown) {
    this.attributes[name] = String(value)
  }
  append(...children: (Part | string)[]) {
    this.children.push(...children)
  }
  addEventListener(name: string, listener: (event: unknown) => void) {
    this.listeners.set(name, listener)
  }
  querySelectorAll(selector: string): Part[] {
    return this.below().filter((each) => `.${each.attributes.class}` === selector)
  }
  scrollIntoView() {}
  below(): Part[] {
    return this.children.flatMap((child) => (child instanceof Part ? [child, ...child.below()] : []))
  }
  text(): string {
    return this.children.map((child) => (child instanceof Part ? child.text() : child)).join(' ')
  }
}

/** Runs the page's script with an OpenAPI document. */
async function draw(script: string, openApi: unknown) {
  const byId = new Map(['main', 'search', 'found', 'version', 'resources'].map((id) => [id, new Part('div')]))
  const page = {
    createElement: (tag: string) => new Part(tag),
    getElementById: (id: string) => byId.get(id),
    addEventListener: () => {},
  }
  const place = { origin: 'http://localhost', hash: '' }
  const names = ['document', 'location', 'history', 'fetch', 'addEventListener', 'navigator', 'setTimeout']
  const fetched = { json: async () => openApi }
  const run = new Function(...names, `${script.replace('fetch(', 'return fetch(')}`)
  await run(
    page,
    place,
    {},
    async () => fetched,
    () => {},
    {},
    () => {},
  )
  const all = () => [...byId.values()].flatMap((each) => [each, ...each.below()])
  return {
    all,
    found: () => byId.get('found')!.text(),
    unfold() {
      for (let folded = all(); folded.length > 0; ) {
        folded = all().filter((each) => each.tag === 'details' && !each.open)
        for (const each of folded) {
          each.open = true
          each.listeners.get('toggle')!({})
        }
      }
    },
    search(words: string) {
      byId.get('search')!.value = words
      byId.get('search')!.listeners.get('input')!({})
    },
  }
}
