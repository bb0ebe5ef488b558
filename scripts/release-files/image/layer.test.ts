import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeWith, run } from '../../../test/support/real-tools.ts'
import { programLayer } from './files.ts'
import { layerOf } from './layer.ts'

const TIME = 1_795_660_000

test('tar lists owners, modes, links, and every folder above a file once', () => {
  const layer = layerOf(
    [
      { path: 'var/lib/data', type: 'folder', mode: 0o700, owner: 10025 },
      { path: 'var/lib/text', type: 'file', content: Buffer.from('text') },
      { path: 'lib', type: 'link', target: 'usr/lib' },
    ],
    TIME,
  )
  const lines = Bun.spawnSync(['tar', '-tv', '--numeric-owner', '--utc'], { stdin: layer }).stdout.toString().trim()
  expect(lines.split('\n').map((line) => line.replace(/ +/g, ' '))).toEqual([
    'drwxr-xr-x 0/0 0 2026-11-26 02:26 var/',
    'drwxr-xr-x 0/0 0 2026-11-26 02:26 var/lib/',
    'drwx------ 10025/10025 0 2026-11-26 02:26 var/lib/data/',
    '-rw-r--r-- 0/0 4 2026-11-26 02:26 var/lib/text',
    'lrwxrwxrwx 0/0 0 2026-11-26 02:26 lib -> usr/lib',
  ])
})

test('a path that no header can have is an error', () => {
  expect(() => layerOf([{ path: 'a'.repeat(101), type: 'file' }], TIME)).toThrow(RangeError)
})

describeWith(['root', 'getcap'], 'the layer of the program', () => {
  test('gives it the right to listen on low ports', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'postrider-layer-'))
    const layer = layerOf(programLayer(Buffer.from('program'), 'licence'), TIME)
    const options = ['--xattrs', '--xattrs-include=*', '-C', folder]
    Bun.spawnSync(['tar', '-x', ...options], { stdin: layer })
    const { output } = await run(['getcap', join(folder, 'usr/bin/postrider')])
    expect(output.trim()).toEndWith('cap_net_bind_service=ep')
    rmSync(folder, { recursive: true })
  })
})
