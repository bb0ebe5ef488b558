import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PACKAGES } from '../client/write.ts'

type PackedFile = readonly [path: string, content: Uint8Array]

/** The Python client → a wheel, which pip installs without a build. Source: PyPA's specifications "Binary distribution format"
 *  and "Core metadata". */
export function writePythonWheel(file: string, version: string, time: number): void {
  const info = `postrider-${version}.dist-info`
  const files: PackedFile[] = [
    ...pythonModules(),
    [`${info}/METADATA`, Buffer.from(metadata(version))],
    [
      `${info}/WHEEL`,
      Buffer.from('Wheel-Version: 1.0\nGenerator: postrider\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
    ],
    [`${info}/licenses/LICENSE`, fileOf('python/LICENSE')],
  ]
  const lines = files.map(([path, content]) => {
    const sum = createHash('sha256').update(content).digest('base64url')
    return `${path},sha256=${sum},${content.length}\n`
  })
  const record = `${info}/RECORD`
  writeZip(file, [...files, [record, Buffer.from(`${lines.join('')}${record},,\n`)]], time)
}

/** The PHP client → an archive for Composer's repository type `artifact`. */
export function writePhpArchive(file: string, time: number): void {
  const paths = readdirSync(join(PACKAGES, 'php'), { recursive: true, encoding: 'utf8' })
  const files = paths.filter((path) => /\.(php|json|md)$|^LICENSE$/.test(path)).sort()
  writeZip(
    file,
    files.map((path): PackedFile => [path, fileOf(`php/${path}`)]),
    time,
  )
}

function pythonModules(): PackedFile[] {
  const names = readdirSync(join(PACKAGES, 'python/postrider')).filter((name) => /\.py$|^py\.typed$/.test(name))
  return names.sort().map((name) => [`postrider/${name}`, fileOf(`python/postrider/${name}`)])
}

/** From pyproject.toml, so that both ways to install say the same. */
function metadata(version: string): string {
  const { project } = Bun.TOML.parse(fileOf('python/pyproject.toml').toString()) as {
    project: { version: string; name: string; description: string; 'requires-python': string; classifiers: string[] }
  }
  if (project.version !== version) throw new Error(`pyproject.toml has the version ${project.version}, not ${version}`)
  const lines = [
    'Metadata-Version: 2.4',
    `Name: ${project.name}`,
    `Version: ${version}`,
    `Summary: ${project.description}`,
    'License-Expression: MIT',
    'License-File: LICENSE',
    ...project.classifiers.map((each) => `Classifier: ${each}`),
    `Requires-Python: ${project['requires-python']}`,
    'Description-Content-Type: text/markdown',
  ]
  return `${lines.join('\n')}\n\n${fileOf('python/README.md')}`
}

const fileOf = (path: string) => readFileSync(join(PACKAGES, path))

/** Files → a ZIP archive in their order, each with one time in seconds since 1970. Without extra fields, which have the time
 *  of reading and the user. */
function writeZip(file: string, files: readonly PackedFile[], time: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-zip-'))
  try {
    for (const [path, content] of files) {
      const copy = join(folder, path)
      mkdirSync(dirname(copy), { recursive: true })
      writeFileSync(copy, content, { mode: 0o644 })
      utimesSync(copy, time, time)
    }
    const names = files.map(([path]) => path).join('\n')
    const env = { ...process.env, TZ: 'UTC' }
    execFileSync('zip', ['--quiet', '-X', '-9', file, '-@'], { cwd: folder, input: names, env })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
