import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleTemplates } from '../../scripts/client/templates.ts'

/** The program `postrider-templates` as the package has it. */
export interface TemplateProgram {
  /** Runs it with Node, or with Bun where there is no Node, and with these environment variables. */
  run(env: Record<string, string>, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>
  remove(): void
}

export async function buildProgram(): Promise<TemplateProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-templates-'))
  await bundleTemplates(folder)
  const command = [Bun.which('node') ?? process.execPath, join(folder, 'postrider-templates.mjs')]
  return {
    run: async (env, ...args) => {
      const child = Bun.spawn([...command, ...args], {
        env: { PATH: process.env.PATH!, ...env },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const texts = [child.stdout, child.stderr].map((stream) => new Response(stream).text())
      const [code, stdout, stderr] = await Promise.all([child.exited, ...texts])
      return { code, stdout: stdout ?? '', stderr: stderr ?? '' }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
