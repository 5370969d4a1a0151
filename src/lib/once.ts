/** Does `work` when it is first asked for, and keeps the result. Work that fails is done again when it is asked for again. */
export function succeedOnce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let done: Promise<Result> | undefined
  const again = (error: unknown) => {
    done = undefined
    throw error
  }
  return () => (done ??= work().catch(again))
}
