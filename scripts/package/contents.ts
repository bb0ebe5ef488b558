import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { completionFor, pageOf } from '../../src/cli/manual/generated.ts'
import { createProgram } from '../../src/cli/program.ts'
import { serviceUnit } from '../../src/cli/service-unit.ts'

const ROOT = join(import.meta.dir, '../..')

const program = createProgram(() => {})

export const unit = () =>
  `${serviceUnit({ program: '/usr/bin/postrider', file: '/etc/postrider/config.toml', dataDir: '/var/lib/postrider' })}\n`

export const completions = () => ({
  bash: `${completionFor(program, 'bash')}\n`,
  zsh: `${completionFor(program, 'zsh')}\n`,
  fish: `${completionFor(program, 'fish')}\n`,
})

export const manual = () => ({
  'postrider.1': `${pageOf(program, 'postrider')}\n`,
  'postrider-config.5': `${pageOf(program, 'config')}\n`,
})

/** A file of the sources. */
export const source = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Gzip without a time stamp. */
export const gzip = (text: string) => gzipSync(text, { level: 9 })
