import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pkg from '../../package.json' with { type: 'json' }
import { inOtherRoot } from '../support/other-root.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { makeReleaseKey, type ReleaseKey, sign } from '../support/release.ts'

const ROOT = join(import.meta.dir, '../..')
const INSTALL = join(ROOT, 'scripts/install.sh')
const ARCHIVE = `postrider-${pkg.version}-linux-${process.arch}`
const DEB = `postrider_${pkg.version}_${process.arch === 'arm64' ? 'arm64' : 'amd64'}.deb`

let folder: string
/** A release as users get it, of a program that reports its path: packing gives the same result for any program. */
let release: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-packages-'))
  release = join(folder, 'release')
  await pack(release)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function pack(out: string): Promise<void> {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\necho "a program, $*"\n')
  chmodSync(program, 0o755)
  const args = ['--program', program, '--out', out]
  const made = await run([process.execPath, join(ROOT, 'scripts/package.ts'), ...args])
  if (made.exitCode !== 0) throw new Error(made.output)
}

describe('a release', () => {
  test('is a Debian package and two archives, with their checksums', async () => {
    const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8')
    expect(
      sums
        .trim()
        .split('\n')
        .map((line) => line.split('  ')[1]),
    ).toEqual([`${ARCHIVE}.tar.gz`, `${ARCHIVE}.tar.xz`, DEB])
    expect(await run(['sha256sum', '--quiet', '-c', 'SHA256SUMS'], { cwd: release })).toEqual({
      exitCode: 0,
      output: '',
    })
  })

  test('of the same program is the same, byte for byte', async () => {
    await pack(join(folder, 'again'))
    const sums = (of: string) => readFileSync(join(of, 'SHA256SUMS'), 'utf8')
    expect(sums(join(folder, 'again'))).toBe(sums(release))
  })

  test('contains what an administrator needs, owned by root', async () => {
    const { output } = await run(['tar', '-tvf', join(release, `${ARCHIVE}.tar.gz`)])
    const listed = output.split('\n').map((line) => line.split(/\s+/))
    const rights = new Map(listed.map(([mode, owner, , , , path]) => [path, `${mode} ${owner}`]))
    for (const path of ['LICENSE', 'config.example.toml', 'postrider.service', 'man/postrider.1']) {
      expect(rights.get(`${ARCHIVE}/${path}`)).toBe('-rw-r--r-- 0/0')
    }
    expect(rights.get(`${ARCHIVE}/postrider`)).toBe('-rwxr-xr-x 0/0')
  })
})

describeWith(['root', 'dpkg', 'systemd-sysusers', 'systemd-tmpfiles', 'shellcheck'], 'the Debian package', () => {
  test('has scripts without errors', async () => {
    const scripts = ['postinst', 'prerm', 'postrm'].map((name) => join(ROOT, 'scripts/package', name))
    expect(await run(['shellcheck', ...scripts])).toEqual({ exitCode: 0, output: '' })
  })

  test('creates user and folders, keeps an existing config, keeps data on removal, and removes all on purge', async () => {
    const root = join(folder, 'root')
    for (const path of ['var/lib/dpkg/info', 'var/lib/dpkg/updates', 'etc'])
      mkdirSync(join(root, path), { recursive: true })
    for (const path of ['var/lib/dpkg/status', 'var/lib/dpkg/available']) writeFileSync(join(root, path), '')
    const options = [`--root=${root}`, '--force-script-chrootless', '--force-depends', '--force-not-root']
    const dpkg = async (...args: string[]) => {
      const { exitCode, output } = await run(['dpkg', ...options, ...args])
      if (exitCode !== 0) throw new Error(output)
    }
    const rights = (path: string) => {
      const { mode, uid, gid } = statSync(join(root, path))
      return { mode: mode & 0o7777, uid, gid }
    }

    await dpkg('--install', join(release, DEB))
    const user = /^postrider:[^:]*:(\d+):(\d+):.*:\/usr\/sbin\/nologin$/m.exec(
      readFileSync(join(root, 'etc/passwd'), 'utf8'),
    )!
    const [uid, gid] = [Number(user[1]), Number(user[2])]
    expect(uid).toBeGreaterThan(0)
    expect(rights('etc/postrider')).toEqual({ mode: 0o2750, uid: 0, gid })
    expect(rights('var/lib/postrider')).toEqual({ mode: 0o700, uid, gid })
    expect(rights('usr/bin/postrider')).toEqual({ mode: 0o755, uid: 0, gid: 0 })
    expect((await run([join(root, 'usr/bin/postrider'), 'version'])).output).toBe('a program, version\n')

    writeFileSync(join(root, 'etc/postrider/config.toml'), 'hostname = "mine"')
    writeFileSync(join(root, 'var/lib/postrider/postrider.db'), 'data')
    await dpkg('--install', join(release, DEB)) // as an upgrade does
    await dpkg('--remove', 'postrider')
    expect(existsSync(join(root, 'usr/bin/postrider'))).toBe(false)
    expect(readFileSync(join(root, 'etc/postrider/config.toml'), 'utf8')).toBe('hostname = "mine"')
    expect(readFileSync(join(root, 'var/lib/postrider/postrider.db'), 'utf8')).toBe('data')
    await dpkg('--purge', 'postrider')
    for (const path of ['etc/postrider', 'var/lib/postrider']) expect(existsSync(join(root, path))).toBe(false)
  })
})

describeWith(['shellcheck', 'curl', 'minisign'], 'the install script', () => {
  let key: ReleaseKey
  beforeAll(async () => {
    key = await makeReleaseKey(join(folder, 'keys'))
    await sign(release, key)
  })
  let places = 0
  /** A folder to install into, which does not exist yet. */
  const place = () => join(folder, `bin-${places++}`)
  const install = (args: string[], env: Record<string, string> = {}) =>
    run(['sh', INSTALL, '--signers', key.signers, ...args], {
      env: { PATH: process.env.PATH!, HOME: folder, TMPDIR: folder, ...env },
    })

  /** A release over HTTP → its address. */
  const serve = (path: string) => {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async ({ url }) => {
        const file = Bun.file(join(path, new URL(url).pathname))
        return (await file.exists()) ? new Response(file) : new Response('', { status: 404 })
      },
    })
    return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
  }

  test('is without errors', async () => {
    expect(await run(['shellcheck', INSTALL])).toEqual({ exitCode: 0, output: '' })
  })

  test('installs one file from an address or a folder, and prints the next command', async () => {
    const server = serve(release)
    for (const args of [
      ['--from', server.url],
      ['--from', release, '--version', `v${pkg.version}`],
    ]) {
      const to = place()
      const { exitCode, output } = await install([...args, '--to', to])
      expect(output.trim().split('\n').at(-1)).toBe(`  ${to}/postrider try`)
      expect(exitCode).toBe(0)
      expect(await Array.fromAsync(new Bun.Glob('**').scan({ cwd: to, dot: true }))).toEqual(['postrider'])
      expect((await run([join(to, 'postrider'), 'try'])).output).toBe('a program, try\n')
    }
    await server.stop()
  })

  test('installs into the home directory without root, over an existing file', async () => {
    if (process.getuid?.() === 0) chmodSync(folder, 0o755)
    const home = mkdtempSync(join(tmpdir(), 'postrider-home-'))
    mkdirSync(join(home, '.local/bin'), { recursive: true })
    writeFileSync(join(home, '.local/bin/postrider'), 'before')
    if (process.getuid?.() === 0) await run(['chown', '-R', '65534:65534', home])
    const nobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
    const env = { PATH: process.env.PATH!, HOME: home, TMPDIR: home, POSTRIDER_FROM: release }
    // The released script contains the keys.
    const input = readFileSync(INSTALL, 'utf8').replace("signers=''", `signers='${readFileSync(key.signers, 'utf8')}'`)
    const { exitCode } = await run([...nobody, 'sh', '-s'], { env, cwd: '/', input })
    expect(exitCode).toBe(0)
    expect((await run([join(home, '.local/bin/postrider')])).output).toBe('a program, \n')
    rmSync(home, { recursive: true })
  })

  test('refuses an archive that does not match SHA256SUMS, and missing ones', async () => {
    const other = join(folder, 'other')
    cpSync(release, other, { recursive: true })
    for (const kind of ['gz', 'xz']) writeFileSync(join(other, `${ARCHIVE}.tar.${kind}`), 'something else')
    const to = place()
    const changed = await install(['--from', other, '--to', to])
    expect(changed.exitCode).toBe(1)
    expect(changed.output).toContain('does not match SHA256SUMS; nothing was installed')
    const server = serve(folder)
    for (const [args, words] of [
      [['--from', release, '--version', '9.9.9'], 'no postrider 9.9.9 for linux-'],
      [['--from', server.url], `cannot download ${server.url.replace(/\/$/, '')}/SHA256SUMS`],
      [['--from', folder], `cannot read ${folder}/SHA256SUMS`],
      [['--from'], '--from: missing value'],
      [[], 'missing --from'],
      [['--form', release], 'unknown option --form'],
    ] as const) {
      const { exitCode, output } = await install([...args, ...(args.length > 1 ? ['--to', to] : [])])
      expect(output).toContain(words)
      expect(exitCode).toBe(1)
    }
    await server.stop()
    expect(existsSync(to)).toBe(false)
  })

  test('says which tool is missing', async () => {
    const tools = join(folder, 'tools')
    mkdirSync(tools)
    for (const tool of [
      'sh',
      'uname',
      'mktemp',
      'tar',
      'grep',
      'sed',
      'sort',
      'tail',
      'install',
      'mv',
      'id',
      'rm',
      'cp',
      'cat',
    ]) {
      await run(['ln', '-s', Bun.which(tool)!, join(tools, tool)])
    }
    const to = place()
    const without = (from: string) => install(['--from', from, '--to', to], { PATH: tools })
    expect((await without(release)).output).toBe('install.sh: sha256sum not found; install it first\n')
    await run(['ln', '-s', Bun.which('sha256sum')!, join(tools, 'sha256sum')])
    expect((await without('http://127.0.0.1:1')).output).toBe(
      'install.sh: neither curl nor wget found; install one first\n',
    )
    expect((await without(release)).output).toContain('minisign not found; install the package minisign')
    expect(existsSync(to)).toBe(false)
  })

  // threat: forged-release
  test('refuses a release that none of its keys signed, without --no-verify', async () => {
    const other = join(folder, 'unsigned')
    cpSync(release, other, { recursive: true })
    const to = place()
    const refused = async (words: string, args: string[] = []) => {
      const { exitCode, output } = await install(['--from', other, '--to', to, ...args])
      expect([exitCode, output]).toEqual([1, expect.stringContaining(words)])
    }
    const sums = readFileSync(join(other, 'SHA256SUMS'), 'utf8')
    writeFileSync(join(other, 'SHA256SUMS'), sums.replace(/^[0-9a-f]{8}/, '00000000'))
    const words = 'the signature of SHA256SUMS is not by one of the known keys; nothing was installed'
    await refused(words)
    writeFileSync(join(other, 'SHA256SUMS'), sums)
    await sign(other, key, ['-l'])
    await refused(words)
    await sign(other, await makeReleaseKey(join(folder, 'keys'), 'stranger'))
    await refused(words)
    await refused('no keys of releases here; give a file of them with --signers', ['--signers', '/dev/null'])
    await refused('cannot read /missing', ['--signers', '/missing'])
    rmSync(join(other, 'SHA256SUMS.minisig'))
    await refused(`cannot read ${other}/SHA256SUMS.minisig`)
    const { exitCode, output } = await install(['--from', other, '--to', to, '--no-verify'])
    expect(output).toContain('install.sh: the signature is not verified, because of --no-verify\n')
    expect(exitCode).toBe(0)
    expect((await run([join(to, 'postrider'), 'try'])).output).toBe('a program, try\n')
  })

  test('takes each of several keys', async () => {
    const signers = join(folder, 'several')
    const stranger = await makeReleaseKey(join(folder, 'keys'), 'first')
    writeFileSync(signers, readFileSync(stranger.signers, 'utf8') + readFileSync(key.signers, 'utf8'))
    expect((await install(['--from', release, '--to', place(), '--signers', signers])).exitCode).toBe(0)
  })

  test('does nothing when it was downloaded only in part', async () => {
    const script = readFileSync(INSTALL, 'utf8')
    const to = place()
    for (let length = 0; length < script.length - 'main "$@"\n'.length; length += 199) {
      const args = ['sh', '-s', '--', '--from', release, '--to', to]
      await run(args, { env: { PATH: process.env.PATH!, HOME: folder }, input: script.slice(0, length) })
    }
    expect(existsSync(to)).toBe(false)
  })
})

describeWith(['root', 'unshare'], 'the package script after the files', () => {
  test('restarts a running server, except within `postrider upgrade`, which does it itself', async () => {
    const log = '/tmp/calls'
    const noted = { text: `#!/bin/sh\necho "$@" >>${log}\n`, mode: 0o755 }
    const ignored = { text: '#!/bin/sh\n', mode: 0o755 }
    const script = { text: readFileSync(join(ROOT, 'scripts/package/postinst'), 'utf8'), mode: 0o755 }
    const files = {
      '/usr/local/sbin/systemctl': noted,
      '/usr/local/sbin/systemd-sysusers': ignored,
      '/usr/local/sbin/systemd-tmpfiles': ignored,
      '/root/postinst': script,
    }
    const calls = ['/root/postinst configure', 'POSTRIDER_UPGRADE=1 /root/postinst configure'].join(' && ')
    const command = `PATH=/usr/local/sbin:$PATH; mkdir -p /run/systemd/system; rm -f ${log}; ${calls} && cat ${log}`
    const { exitCode, output } = await inOtherRoot(folder, command, { files, mounted: folder })
    expect(output.trim().split('\n')).toEqual(['daemon-reload', 'try-restart postrider.service', 'daemon-reload'])
    expect(exitCode).toBe(0)
  })
})
