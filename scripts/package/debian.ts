import { chmodSync, copyFileSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { completions, gzip, manual, source, unit } from './contents.ts'
import { type Making, run, XZ_THREADS } from './run.ts'

/** Program and texts → postrider_<version>_<architecture>.deb. Without compression for tests that install the whole program,
 *  where it would take most of the time. */
export async function writeDebian(making: Making & { architecture: string; isCompressed?: boolean }): Promise<void> {
  const { program, version, architecture, time, work, out, isCompressed = true } = making
  const folder = join(work, `debian-${architecture}`)
  const shells = completions()
  const pages = manual()
  const files: Record<string, string | Uint8Array> = {
    'DEBIAN/control': control(version, architecture, statSync(program).size),
    'DEBIAN/postinst': source('scripts/package/postinst'),
    'DEBIAN/prerm': source('scripts/package/prerm'),
    'DEBIAN/postrm': source('scripts/package/postrm'),
    'usr/lib/systemd/system/postrider.service': unit(),
    'usr/lib/systemd/system/postrider-backup.service': source('scripts/package/backup.service'),
    'usr/lib/systemd/system/postrider-backup-network.service': source('scripts/package/backup-network.service'),
    'usr/lib/systemd/system/postrider-backup.timer': source('scripts/package/backup.timer'),
    'usr/lib/sysusers.d/postrider.conf': source('scripts/package/sysusers.conf'),
    'usr/lib/tmpfiles.d/postrider.conf': source('scripts/package/tmpfiles.conf'),
    'usr/share/man/man1/postrider.1.gz': gzip(pages['postrider.1']),
    'usr/share/man/man5/postrider-config.5.gz': gzip(pages['postrider-config.5']),
    'usr/share/bash-completion/completions/postrider': shells.bash,
    'usr/share/zsh/vendor-completions/_postrider': shells.zsh,
    'usr/share/fish/vendor_completions.d/postrider.fish': shells.fish,
    'usr/share/doc/postrider/copyright': source('LICENSE'),
    'usr/share/doc/postrider/README.md.gz': gzip(source('README.md')),
    'usr/share/doc/postrider/config.example.toml': source('config.example.toml'),
  }
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    chmodSync(file, /^DEBIAN\/p/.test(path) ? 0o755 : 0o644)
    utimesSync(file, time, time)
  }
  mkdirSync(join(folder, 'usr/bin'))
  copyFileSync(program, join(folder, 'usr/bin/postrider'))
  chmodSync(join(folder, 'usr/bin/postrider'), 0o755)

  const deb = join(out, `postrider_${version}_${architecture}.deb`)
  await run('chmod', ['-R', 'u=rwX,go=rX', folder], { time })
  const compression = isCompressed ? ['-Zxz', '-z6', `--threads-max=${XZ_THREADS}`] : ['-Znone']
  await run('dpkg-deb', ['--root-owner-group', ...compression, '--build', folder, deb], { time })
  rmSync(folder, { recursive: true })
}

/** No conffile: `postrider init` creates the config, which belongs to the operator. */
const control = (version: string, architecture: string, programBytes: number) => `Package: postrider
Version: ${version}
Architecture: ${architecture}
Maintainer: The Postrider authors
Installed-Size: ${Math.ceil(programBytes / 1024) + 512}
Depends: libc6 (>= 2.34), passwd
Section: mail
Priority: optional
Description: self-hosted transactional email server
 Accepts mail over HTTP and SMTP, signs it with DKIM and delivers it to the
 recipient's server. Signed webhooks report every event. One program with an
 embedded database.
`
