import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { completions, manual, source, unit } from './contents.ts'
import { GZIP } from './gzip.ts'
import { type Making, run, XZ_THREADS } from './run.ts'

/** One folder with everything → postrider-<version>-linux-<target>.tar.xz and .tar.gz. */
export async function writeArchives(making: Making & { target: string }): Promise<void> {
  const { program, version, target, time, work, out } = making
  const name = `postrider-${version}-linux-${target}`
  const folder = join(work, name)
  const files: Record<string, string> = {
    LICENSE: source('LICENSE'),
    'README.md': source('README.md'),
    'config.example.toml': source('config.example.toml'),
    'postrider.service': unit(),
    ...Object.fromEntries(Object.entries(manual()).map(([page, text]) => [`man/${page}`, text])),
    ...Object.fromEntries(
      Object.entries(completions()).map(([shell, text]) => [`completions/postrider.${shell}`, text]),
    ),
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  copyFileSync(program, join(folder, 'postrider'))
  chmodSync(join(folder, 'postrider'), 0o755)

  const tar = join(work, `${name}.tar`)
  await run('tar', [...TAR, `--mtime=@${time}`, '-cf', tar, name], { cwd: work, time })
  writeFileSync(join(out, `${name}.tar.gz`), Bun.gzipSync(readFileSync(tar), GZIP))
  await run('xz', [`-T${XZ_THREADS}`, '-6', tar], { time })
  renameSync(`${tar}.xz`, join(out, `${name}.tar.xz`))
  rmSync(folder, { recursive: true })
}

const TAR = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', '--format=gnu']
