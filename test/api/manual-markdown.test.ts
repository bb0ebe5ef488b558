import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { packedManual } from '../../src/cli/manual/packed.ts'
import { dashboardFiles } from '../../src/web/dashboard/files.ts'
import { TOPICS } from '../../src/web/manual/contents.ts'
import { manualFiles } from '../../src/web/manual/files.ts'
import { createAnchors } from '../../src/web/manual/markdown.ts'
import { manualPages } from '../../src/web/manual/pages.ts'
import { createTestApi, type TestApi } from '../support/api.ts'

/** `/llms.txt` and the pages of the manual as Markdown, over a socket. */

let api: TestApi
let origin: string
beforeAll(async () => {
  api = await createTestApi({ pages: manualPages(async () => manualFiles(await packedManual()), dashboardFiles) })
  const { host, port } = await api.api.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://${host}:${port}`
})
afterAll(() => api.close())

const get = (path: string, headers: Record<string, string> = {}) => fetch(origin + path, { headers })

/** Every page as a reader gets it, by topic. */
async function allPages(): Promise<Map<string, string>> {
  const texts = await Promise.all(TOPICS.map(async (topic) => (await get(`/manual/${topic}.md`)).text()))
  return new Map(TOPICS.map((topic, at) => [topic, texts[at]!]))
}

const withoutCode = (markdown: string) => markdown.replaceAll(/^```.*?^```/gms, '').replaceAll(/`[^`\n]*`/g, '')

describe('a page of the manual as Markdown', () => {
  test('needs no key, has the type of Markdown, and the caching and security headers of the HTML page', async () => {
    const [html, markdown] = await Promise.all([get('/manual/tls'), get('/manual/tls.md')])
    expect([markdown.status, markdown.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
    const own = new Set(['content-type', 'etag', 'content-length', 'x-request-id', 'date'])
    const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => !own.has(name)).toSorted()
    expect(headersOf(markdown)).toEqual(headersOf(html))
    const again = await get('/manual/tls.md', { 'if-none-match': markdown.headers.get('etag') ?? '' })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect(await html.text()).toContain('<link rel="alternate" type="text/markdown" href="/manual/tls.md">')
  })

  test('begins with its title, and has neither comments nor links that lead nowhere', async () => {
    const pages = await allPages()
    const anchorsOf = (text: string) => {
      const anchorOf = createAnchors()
      return [...text.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading.replaceAll(/[`\\]/g, '')))
    }
    const faults = [...pages].flatMap(([topic, text]) => {
      const isFit = text.startsWith('# ') && !text.includes('<!--') && text.endsWith('\n') && !text.includes('\n\n\n')
      const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href)
      const broken = links.filter((href) => {
        if (/^https?:|^images\//.test(href)) return false
        const [, to = '', anchor = ''] = /^(?:([\w-]+)\.md)?(?:#(.+))?$/.exec(href) ?? ['', '?', '']
        const page = pages.get(to === '' ? topic : to)
        return page === undefined || (anchor !== '' && !anchorsOf(page).includes(anchor))
      })
      return [...(isFit ? [] : [topic]), ...broken.map((href) => `${topic}: ${href}`)]
    })
    expect(faults).toEqual([])
    expect(pages.size).toBeGreaterThan(30)
  })

  test('has the parts that are generated from the tables of the program', async () => {
    const pages = await allPages()
    expect(pages.get('configuration-reference')).toContain('POSTRIDER_HTTP_LISTEN_TLS')
    expect(pages.get('api-operations')).toContain('| `POST /v1/messages/send` | send |')
    expect(pages.get('keys')).toContain('`messages_send`')
  })

  test.each(['/manual/nothing.md', '/manual/.md', '/manual/..%2f..%2fpackage.json.md', '/manual/tls.md/x'])(
    'answers 404 for %s',
    async (path) => {
      expect((await get(path)).status).toBe(404)
    },
  )
})

describe('/llms.txt', () => {
  test('has a title, a summary, and every page under a heading with its link and description', async () => {
    const response = await get('/llms.txt')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    const text = await response.text()
    expect(text).toMatch(/^# Postrider\n\n> Postrider is [^\n]+\n\n[^\n]+\n\n## Start\n\n- /)
    const entries = [...text.matchAll(/^- \[([^\]]+)\]\(([^)]+)\): (.+)$/gm)]
    const links = entries.map(([, , link = '']) => link)
    expect(links).toEqual([...TOPICS.map((topic) => `/manual/${topic}.md`), '/openapi.json'])
    for (const [, title, link = ''] of entries) {
      const page = await (await get(link)).text()
      if (link.endsWith('.md')) expect(page).toStartWith(`# ${title}\n`)
      else expect(JSON.parse(page).openapi).toStartWith('3.1')
    }
    // Every other line is a heading, text, or empty: a description with a line break would end its item.
    const others = text.split('\n').filter((line) => !/^(?:- \[|## \w|$)/.test(line))
    expect(others.length).toBe(3)
  })

  test('is linked from the contents of the manual', async () => {
    const html = await (await get('/manual/')).text()
    expect(html).toContain('<link rel="alternate" type="text/plain" href="/llms.txt">')
  })
})
