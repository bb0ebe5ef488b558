import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { memoryLimit } from './memory-limit.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'memory-limit-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** Kernel files → the limit in them. */
function limitIn(files: Record<string, string>): number {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return memoryLimit({ proc: join(root, 'proc'), sys: join(root, 'sys'), pid: '7' })
}

const MACHINE = { 'proc/meminfo': 'MemTotal:        1000000 kB\nMemFree: 5 kB\n' }

test('is seven eighths of the machine without a smaller group limit, and unlimited where both are unknown', () => {
  expect(limitIn({})).toBe(Number.POSITIVE_INFINITY)
  expect(limitIn(MACHINE)).toBe(896_000_000)
  expect(limitIn({ 'proc/7/cgroup': '0::/\n', 'sys/fs/cgroup/memory.max': 'max\n' })).toBe(896_000_000)
})

test('of control groups v2 is the smallest of the group and its parents, max or high', () => {
  const files = {
    ...MACHINE,
    'proc/7/cgroup': '0::/system.slice/postrider.service\n',
    'sys/fs/cgroup/system.slice/postrider.service/memory.max': '600000000\n',
    'sys/fs/cgroup/system.slice/postrider.service/memory.high': 'max\n',
    'sys/fs/cgroup/system.slice/memory.max': 'max\n',
  }
  expect(limitIn(files)).toBe(600_000_000)
  expect(limitIn({ 'sys/fs/cgroup/system.slice/postrider.service/memory.high': '500000000\n' })).toBe(500_000_000)
  expect(limitIn({ 'sys/fs/cgroup/system.slice/memory.max': '400000000\n' })).toBe(400_000_000)
})

test('of control groups v1 is found too, also in a container with the path of the host', () => {
  const cgroup = '9:cpu,cpuacct:/other\n4:memory:/docker/abc\n0::/\n'
  const unlimited = '9223372036854771712\n'
  const own = 'sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes'
  expect(limitIn({ ...MACHINE, 'proc/7/cgroup': cgroup, [own]: unlimited })).toBe(896_000_000)
  expect(limitIn({ [own]: '536870912\n' })).toBe(536_870_912)
  rmSync(join(root, 'sys'), { recursive: true })
  expect(limitIn({ 'sys/fs/cgroup/memory/memory.limit_in_bytes': '300000000\n' })).toBe(300_000_000)
})
