/** The code of a failed system call (`ENOENT`, `EACCES`…). */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined
