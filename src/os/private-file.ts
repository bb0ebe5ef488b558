import { chmod, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A file with that text, readable for nobody but us: whole or not at all, and on the disk. */
export async function writePrivately(path: string, text: string): Promise<void> {
  const draft = `${path}.new`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await chmod(draft, 0o600) // the mode above counts only for a file that was not there
  await rename(draft, path)
  const folder = await open(dirname(path))
  await folder.sync().finally(() => folder.close())
}
