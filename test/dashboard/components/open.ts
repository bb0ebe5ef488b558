import { join } from 'node:path'
import type { Page } from 'playwright-core'

const ORIGIN = 'http://components.test'
const TYPES: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
}
let files: Promise<Map<string, Uint8Array>> | undefined

/** Opens the page of components, compiled at the first call and answered without a server, in an empty page. */
export async function openComponents(page: Page): Promise<void> {
  files ??= compile()
  const all = await files
  await page.route(`${ORIGIN}/**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice(1) || 'index.html'
    const bytes = all.get(name)
    if (bytes === undefined) return route.fulfill({ status: 404 })
    return route.fulfill({ body: Buffer.from(bytes), contentType: TYPES[name.split('.').at(-1) ?? ''] })
  })
  await page.goto(`${ORIGIN}/`)
  await page.getByRole('heading', { level: 1, name: 'Components' }).waitFor()
  await page.locator('.plot canvas').last().waitFor()
}

async function compile(): Promise<Map<string, Uint8Array>> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'index.html')],
    target: 'browser',
    splitting: true,
    publicPath: '/',
    external: ['/dashboard/assets/*'],
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const read = outputs.map(
    async (output) => [output.path.replace(/^\.?\//, ''), new Uint8Array(await output.arrayBuffer())] as const,
  )
  return new Map(await Promise.all(read))
}
