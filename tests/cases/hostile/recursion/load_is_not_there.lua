-- Code from text could nest without end: there is no way to it.
-- expect: result: [null,null,null,null]
function run()
  return {
    _G["lo" .. "ad"] == nil and null or 1, _G["load" .. "string"] == nil and null or 1,
    _G["do" .. "file"] == nil and null or 1, string["du" .. "mp"] == nil and null or 1,
  }
end
