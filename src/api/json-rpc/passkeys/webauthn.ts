/** The library that verifies answers. It is loaded with the first one, since that takes as long as a start without it. */
export const loadWebauthn = async () => {
  const [server, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ])
  return { ...server, ...helpers }
}

export type Webauthn = Awaited<ReturnType<typeof loadWebauthn>>
