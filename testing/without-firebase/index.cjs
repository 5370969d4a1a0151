function unsupported() {
  throw new Error('a login by Apple needs firebase, in whose place this package is installed')
}

Object.assign(exports, {
  initializeApp: unsupported,
  getApps: () => [],
  getAuth: unsupported,
  OAuthProvider: unsupported,
  signInWithPopup: unsupported,
  getRedirectResult: unsupported,
})
