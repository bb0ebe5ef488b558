import { chmod, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a file that only its owner can read: complete or not at all, and synced to disk. Throws file system
 *  errors. */
export async function writePrivately(path: string, text: string): Promise<void> {
  const draft = `${path}.new`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await chmod(draft, 0o600) // the mode above applies only to a new file
  await rename(draft, path)
  const folder = await open(dirname(path))
  await folder.sync().finally(() => folder.close())
}
