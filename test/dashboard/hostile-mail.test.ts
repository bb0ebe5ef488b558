import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { slowness } from '../support/cpu-cost.ts'
import { until } from '../support/patience.ts'
import type { TestServer } from '../support/server.ts'
import { describeWithBrowser, startDashboard, type TestDashboard, type View } from './setup.ts'

/** Hostile messages: mutation XSS, remote requests, DOM clobbering and input that is slow to parse. Requests to other
 *  hosts and script errors fail the run in `close`. */

const STEAL = 'parent.stolen=1'
const MUTANTS = [
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${STEAL}&gt;">`,
  `<svg></p><style><a id="</style><img src=1 onerror=${STEAL}>">`,
  `<noscript><p title="</noscript><img src=x onerror=${STEAL}>">`,
  `<template shadowrootmode="open"><img src=x onerror=${STEAL}></template>`,
  `<svg><foreignObject><iframe srcdoc="<script>${STEAL}</script>"></iframe></foreignObject></svg>`,
  `<svg><a xlink:href="javascript:${STEAL}"><text y="20">drawn</text></a></svg>`,
  `<mail-body data-mail-onload="${STEAL}"><img data-mail-onerror="${STEAL}" data-mail-style="background:url(https://evil.example/a)">`,
  `<select><style></select><img src=x onerror=${STEAL}></style></select>`,
  `<div style="background:u\\72l(https://evil.example/b)">escaped</div><div style="background:url(https://evil.example/c">open`,
  `<style>@im\\70ort "https://evil.example/d.css"; div{background:image-set("https://evil.example/e" 1x)}</style>`,
]
/** Each element would request something from HOST (https) or PLAIN (http), in a different way. */
const LOADS = [
  '<img src="https://HOST/img">',
  '<img src="//HOST/scheme-less">',
  '<img src="http://PLAIN/plain">',
  '<img srcset="https://HOST/srcset 1x" alt="x">',
  '<picture><source srcset="https://HOST/source"><img alt="x"></picture>',
  '<image src="https://HOST/image">',
  '<input type="image" src="https://HOST/input">',
  '<table background="https://HOST/table"><tr><td>x</td></tr></table>',
  '<table background="http://PLAIN/table"><tr><td>x</td></tr></table>',
  '<video poster="https://HOST/poster" src="https://HOST/video" autoplay></video><audio src="https://HOST/audio" autoplay></audio>',
  '<object data="https://HOST/object"></object><embed src="https://HOST/embed"><iframe src="https://HOST/iframe"></iframe>',
  '<link rel="stylesheet" href="https://HOST/stylesheet"><link rel="preload" as="image" href="https://HOST/preload">',
  '<link rel="prefetch" href="https://HOST/prefetch"><link rel="dns-prefetch" href="https://HOST/"><link rel="icon" href="https://HOST/icon">',
  '<meta http-equiv="refresh" content="0;url=https://HOST/refresh">',
  '<base href="https://HOST/base/"><img src="relative">',
  '<svg width="9" height="9"><image href="https://HOST/svg-image"/><use href="https://HOST/use#x"/><rect width="9" height="9" fill="url(https://HOST/fill)"/></svg>',
  '<svg><set attributeName="href" to="https://HOST/set"/><image><animate attributeName="href" values="https://HOST/animate"/></image></svg>',
  '<svg><style>rect{fill:url(https://HOST/svg-style)}</style><foreignObject><img src="https://HOST/foreign"></foreignObject></svg>',
  '<math><mtext><img src="https://HOST/mathml"></mtext></math>',
  '<div style="background:url(https://HOST/css)">x</div>',
  '<div style="background:url(http://PLAIN/css)">x</div>',
  '<div style="background:u\\72l(https://HOST/escaped)">x</div>',
  '<div style="background:URL( \'https://HOST/quoted\' )">x</div>',
  '<div style="background:image-set(\'https://HOST/image-set\' 1x)">x</div>',
  '<div style="background:-webkit-image-set(url(https://HOST/webkit-set) 1x)">x</div>',
  '<div style="background:cross-fade(url(https://HOST/fade), url(https://HOST/fade2), 50%)">x</div>',
  '<div style="background:-webkit-cross-fade(url(https://HOST/wfade), url(https://HOST/wfade2), 50%)">x</div>',
  '<div style="--x:url(https://HOST/custom);background:var(--x)">x</div>',
  '<div style="background:var(--none, url(https://HOST/fallback))">x</div>',
  '<div style="background:src(\'https://HOST/src\')">x</div><div data-u="https://HOST/attr" style="background:attr(data-u url)">x</div>',
  '<ul><li style="list-style-image:url(https://HOST/list)">x</li></ul><div style="cursor:url(https://HOST/cursor),auto">x</div>',
  '<div style="border-image:url(https://HOST/border) 1;mask-image:url(https://HOST/mask);-webkit-mask:url(https://HOST/wmask)">x</div>',
  '<div style="filter:url(https://HOST/filter#f);clip-path:url(https://HOST/clip#c);shape-outside:url(https://HOST/shape)">x</div>',
  '<div style="content:url(https://HOST/content)">x</div><div style="color:red}*{background:url(https://HOST/brace)">x</div>',
  '<style>@import "https://HOST/import";</style><style>@\\69mport url(https://HOST/import-escaped);</style>',
  '<style>@font-face{font-family:f;src:url(https://HOST/font)} p{font-family:f}</style><p>x</p>',
  '<style>@keyframes k{from{background:url(https://HOST/keyframes)}} div{animation:k 1s}</style>',
  '<style>@media all{div{background-image:url(https://HOST/media)}}@supports (color:red){p{background:url(https://HOST/supports)}}</style>',
  '<style>@layer a{p{background:url(https://HOST/layer)}}@container (width>1px){p{background:url(https://HOST/container)}}</style>',
  '<style>p{&:hover{} &{background:url(https://HOST/nested)}}p::before{content:url(https://HOST/before)}</style>',
  '<style><!-- p{background:url(https://HOST/commented)} --></style><style>p{background:url(https://HOST/unclosed</style>',
  '<div data-mail-image="0" style="color:red">x</div>',
  '<a href="https://HOST/link" ping="https://HOST/ping" download target="_top">link</a>',
  '<img src="https://HOST/last">',
  '<form action="https://HOST/form"><button formaction="https://HOST/button">x</button></form>',
]
/** Names and ids that shadow properties of DOM nodes. */
const CLOBBERING = [
  ...[
    'addEventListener',
    'removeEventListener',
    'querySelectorAll',
    'createElement',
    'documentElement',
    'body',
    'defaultView',
  ],
  ...[
    'adoptNode',
    'implementation',
    'attributes',
    'childNodes',
    'firstChild',
    'nodeType',
    'getAttribute',
    'getAttributeNames',
  ],
  ...[
    'removeAttribute',
    'closest',
    'append',
    'replaceWith',
    'remove',
    'tagName',
    'localName',
    'parentNode',
    'ownerDocument',
  ],
]
const CLOBBERED = CLOBBERING.map(
  (name) =>
    `<form name="${name}" id="${name}"><input name="${name}" id="${name}"><a id="${name}" name="${name}"></a></form>` +
    `<img name="${name}" id="${name}" alt="x"><embed name="${name}"><object id="${name}"></object><iframe name="${name}"></iframe>`,
).join('')

const LEADS = `<h2>Leads away</h2><map name="m"><area shape="rect" coords="0,0,90,90" href="https://evil.example/area" alt="area"></map>
  <img usemap="#m" width="90" height="90" alt="mapped" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">
  <a href="https://evil.example/link" target="_top">a link</a>`
const GOES = [
  'javascript:parent.stolen=1',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  ' javascript:x',
  '#top',
  '/dashboard/settings',
  'blob:x',
]
const many = (text: string, times: number) => text.repeat(times)
const BUSY = [
  `<h2>Tags</h2>${many('<a ', 200_000)}`,
  `<h2>Blanks</h2><p>src=${many(' ', 200_000)}</p>`,
  `<h2>Addresses</h2><div style="color:red;${many('url(', 100_000)}">x</div>`,
  `<h2>Attributes</h2><p ${Array.from({ length: 20_000 }, (_, at) => `a${at}=1`).join(' ')}>x</p>`,
  `<h2>Styles</h2>${Array.from({ length: 20_000 }, (_, at) => `<i style="width:${at}px;color:red">x</i>`).join('')}`,
  `<h2>Brackets</h2><style>${many('a{b:(((([[[', 30_000)}</style><style>${many('@media all{', 30_000)}</style>`,
  `<h2>Depth</h2>${many('<div>', 900)}${many('<table><tr><td>', 90)}`,
  `<h2>Selectors</h2><style>${many(':not(', 30_000)}</style>`,
  `<h2>More blanks</h2><style>p{background:url(${many(' ', 200_000)}data:x)}</style>`,
]

/** An ordinary message. */
const DRAWN = `<html><head><title>no</title><style>.a{color:#c00;background:linear-gradient(red,blue)} #b > td{padding:4px !important}
  @media (max-width:600px){.a{width:100% !important}}</style></head>
  <body bgcolor="#eeeeee" style="margin:0;--x:1"><h2>Drawn</h2><table width="600" cellpadding="0" align="center" id="b"><tr><td class="a"
  style="font-family:'Helvetica Neue',Arial;width:calc(100% - 4px);mso-line-height-rule:exactly;background:url('data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=')">cell</td></tr></table>
  <font color="red" size="2">old</font><noscript>seen</noscript><o:p>kept</o:p><form><label>text <input value="x"></label><button>go</button></form></body></html>`

const KNOTTED = [
  many('<div>', 100_000),
  many('<table><td>', 20_000),
  many('<svg>', 50_000),
  Array.from({ length: 2_000 }, (_, at) => `<b class=${at}>`).join('') + many('<p>x', 2_000),
]

/** CPU time of the process that renders the page, since its start. */
async function cpuSeconds(page: Page): Promise<number> {
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('Performance.enable')
  const { metrics } = await devTools.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'ProcessTime')!.value
}

describeWithBrowser('hostile mail', () => {
  let board: TestDashboard
  /** Requests to the servers of the sender. */
  const asked: { path: string; referer: string | undefined }[] = []
  let secure: { port: number; stop: () => unknown }
  let plain: { port: number; stop: () => unknown }
  const ids: Record<string, string> = {}
  const seed = async (server: TestServer) => {
    const sandbox = { authorization: `Bearer ${server.keys.test}` }
    const send = async (subject: string, html: string) => {
      const { body } = await server.send({ to: 'x@customer.example', subject, html }, sandbox)
      ids[subject] = body.id
    }
    await send('mutants', `<h2>Mutants</h2>${MUTANTS.map((each) => `<div>${each}</div>`).join('\n')}`)
    await send('leads', LEADS)
    await send('goes', `<h2>Goes</h2>${GOES.map((href) => `<a href="${href}">x</a>`).join('')}`)
    await send('clobbered', `<h2>Clobbered</h2>${CLOBBERED}<p id="plain">seen</p>${LEADS}`)
    await send('drawn', DRAWN)
    const placed = LOADS.join('\n')
      .replaceAll('HOST', `127.0.0.1:${secure.port}`)
      .replaceAll('PLAIN', `127.0.0.1:${plain.port}`)
    await send('loads', `<h2>Loads</h2>${placed}<h2>End</h2>`)
    for (const [at, html] of KNOTTED.entries()) await send(`knotted ${at}`, html)
    for (const [at, html] of BUSY.entries()) await send(`busy ${at}`, html)
  }
  const listen = (certificate?: Certificate) => {
    const handle = ({ url, headers }: IncomingMessage, response: ServerResponse) => {
      asked.push({ path: url ?? '', referer: headers.referer })
      response.writeHead(200, { 'content-type': 'image/gif' })
      response.end(Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64'))
    }
    const server =
      certificate === undefined
        ? createServer(handle)
        : createSecureServer({ key: certificate.keyPem, cert: certificate.certificatePem }, handle)
    return new Promise<{ port: number; stop: () => unknown }>((resolve) =>
      server.listen(0, '127.0.0.1', () =>
        resolve({ port: (server.address() as AddressInfo).port, stop: () => server.close() }),
      ),
    )
  }
  beforeAll(async () => {
    secure = await listen(await selfSignedCertificate({ names: ['127.0.0.1'], now: Date.now() }))
    plain = await listen()
    board = await startDashboard(seed)
  })
  afterEach(() => board?.closePages())
  afterAll(async () => {
    await board?.close()
    secure?.stop()
    plain?.stop()
  })

  /** Opens the content of a message. The sanitizer must leave nothing for the content security policy to block: a
   *  violation that `view` does not expect fails the test. */
  const shown = async (name: string, view: View = {}) => {
    const page = await board.open(`/messages/${ids[name]}?tab=content`, { ...view, isFresh: true })
    const mail = page.frameLocator('iframe.mail')
    await mail.getByRole('heading').first().waitFor()
    return { page, mail }
  }
  const isClean = async (page: Page) => {
    expect(await page.evaluate(() => 'stolen' in window)).toBe(false)
    const places = page.frames().map((frame) => new URL(frame.url()).pathname.replace(/msg_\w+/, 'msg'))
    expect(places).toEqual(['/dashboard/messages/msg', '/dashboard/preview'])
  }

  // threat: active-content-in-mail
  test('mutation XSS runs and loads nothing', async () => {
    const { page } = await shown('mutants', { expected: /@import rules are not allowed/ })
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    await isClean(page)
  })

  // threat: active-content-in-mail
  test('no kind of click follows a link', async () => {
    const { page, mail } = await shown('leads')
    await mail.getByAltText('mapped').click({ position: { x: 20, y: 20 } })
    await page.getByText('Link target: https://evil.example/area').waitFor()
    const link = mail.getByRole('link', { name: 'a link' })
    for (const how of [{ button: 'middle' }, { modifiers: ['Control'] }, { modifiers: ['Shift'] }] as const) {
      await link.click({ ...how } as object)
    }
    await page.getByText('Link target: https://evil.example/link').first().waitFor()
    expect(page.context().pages()).toHaveLength(1)
    await isClean(page)
  })

  // threat: mail-frame-requests
  test('remote images load only on request, over https and without a Referer', async () => {
    const { page, mail } = await shown('loads', {
      elsewhere: [`127.0.0.1:${secure.port}`, `127.0.0.1:${plain.port}`],
      // The style sheet that parses the styles causes this warning.
      expected: /@import rules are not allowed/,
    })
    await mail.getByRole('heading', { name: 'End' }).waitFor()
    // The browser would send requests by the first painted frames.
    const painted = () =>
      page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    await painted()
    expect(asked).toEqual([])
    await page.getByLabel('Load remote images').check()
    await mail.getByRole('heading', { name: 'End' }).waitFor()
    await painted()
    const images = [
      '/before',
      '/border',
      '/content',
      '/css',
      '/escaped',
      '/foreign',
      '/image',
      '/img',
      '/last',
      '/list',
      '/mathml',
      '/media',
      '/quoted',
      '/scheme-less',
      '/table',
      '/unclosed',
    ]
    const paths = () => new Set(asked.map(({ path }) => path))
    await until('all images', () => images.every((image) => paths().has(image)))
    await painted()
    expect([...paths()].toSorted()).toEqual(images)
    expect(asked.filter(({ referer }) => referer !== undefined)).toEqual([])
  })

  // threat: mail-frame-clobbering
  test('DOM clobbering disables no check', async () => {
    const { page, mail } = await shown('clobbered')
    await mail.getByText('seen').waitFor()
    await mail.getByAltText('mapped').click({ position: { x: 20, y: 20 } })
    await page.getByText('Link target: https://evil.example/area').waitFor()
    await mail.getByRole('link', { name: 'a link' }).click()
    await page.getByText('Link target: https://evil.example/link').first().waitFor()
    const left = await page.evaluate(() => {
      const inside = document.querySelector<HTMLIFrameElement>('iframe.mail')!.contentDocument!
      const named = [
        ...Element.prototype.querySelectorAll.call(inside.body, '[name], form, input, embed, object, iframe, svg'),
      ]
      return {
        named: named.map((each) => each.outerHTML),
        ids: [...inside.querySelectorAll('[id]')].map(({ id }) => id),
      }
    })
    expect(left).toEqual({ named: [expect.stringContaining('<map name="mail-m">')], ids: ['plain'] })
    await isClean(page)
  })

  test('links with schemes other than http, https, mailto and tel are removed', async () => {
    const { page, mail } = await shown('goes')
    expect(await mail.locator('a[href]').count()).toBe(0)
    expect(await mail.locator('a').count()).toBe(GOES.length)
    await isClean(page)
  })

  test('an ordinary message keeps its layout', async () => {
    const { page, mail } = await shown('drawn')
    const cell = mail.getByText('cell')
    const style = (name: string) =>
      cell.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), name)
    expect(await style('color')).toBe('rgb(204, 0, 0)')
    expect(await style('background-image')).toStartWith('url("data:image/gif')
    expect(await style('font-family')).toBe('"Helvetica Neue", Arial')
    const text = (await mail.locator('body').textContent())!.replace(/\s+/g, ' ')
    for (const word of ['Drawn', 'cell', 'old', 'seen', 'kept', 'text', 'go']) expect(text).toContain(word)
    expect(await mail.locator('table').getAttribute('width')).toBe('600')
    expect(await mail.locator('body').getAttribute('bgcolor')).toBe('#eeeeee')
    expect(await mail.locator('body :is(input, form, button, title)').count()).toBe(0)
    await isClean(page)
  })

  test('a message is shown again after its frame is reloaded', async () => {
    const { page, mail } = await shown('drawn')
    await page.locator('iframe.mail').evaluate((frame: HTMLIFrameElement) => {
      frame.contentDocument!.querySelector('h2')!.textContent = 'Before the reload'
      frame.contentWindow!.location.reload()
    })
    await mail.getByRole('heading', { name: 'Drawn' }).waitFor()
    await isClean(page)
  })

  test('content that would block the parser is not shown as HTML', async () => {
    for (const at of KNOTTED.keys()) {
      const page = await board.open(`/messages/${ids[`knotted ${at}`]}?tab=content`)
      await page.frameLocator('iframe.mail').getByText('nested too deeply').waitFor()
      await page.context().close()
    }
  })

  for (const at of BUSY.keys()) {
    // threat: active-content-in-mail
    test(`shows a costly message without much work: ${/<h2>(.*?)</.exec(BUSY[at]!)![1]}`, async () => {
      const { page } = await shown(`busy ${at}`)
      await isClean(page)
      // At most 2.5 s; quadratic work takes a minute or more.
      expect(await cpuSeconds(page)).toBeLessThan(12 * (await slowness()))
    })
  }
})
