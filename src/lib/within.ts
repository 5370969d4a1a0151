/** What a promise resolves to, or nothing when it fails or takes too long. */
export const within = <Result>(limitMs: number, work: Promise<Result>): Promise<Result | undefined> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), limitMs)
    work.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer))
  })
