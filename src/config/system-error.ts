/** Code of a system error, such as EACCES (errno(3)), or of a driver; '' without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Plain words for system errors with a common cause. */
export const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EISDIR: 'is a folder',
  ENOTDIR: 'is not a folder',
  EEXIST: 'exists already',
  ENOSPC: 'no space left on the device. Free some space',
  EDQUOT: 'disk quota exceeded. Free some space or raise the quota',
  EROFS: 'the file system is read-only. Mount it writable',
  EIO: 'the disk failed. See the kernel log (dmesg)',
  EMFILE: 'too many open files. Raise the limit (ulimit -n, or LimitNOFILE of the unit)',
  ENFILE: 'too many open files on this machine. Raise fs.file-max (sysctl)',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'name too long',
}
